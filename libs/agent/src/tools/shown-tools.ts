import { stamp } from '../events.js';
import type { AgentPorts } from '../ports.js';

/**
 * Puts the tools that the model is about to have into the log where they are others than the log says: those of servers
 * come and go. Another `SystemPromptEvent` with the same prompt says it, so that whoever reads the log knows at each
 * step what the model could call.
 */
export async function showTools(ports: AgentPorts): Promise<void> {
  const { toolbox, listTools } = ports;
  const { tools, shown } = toolbox;
  if (listTools === undefined || shown === tools) return;
  const prompt = ports.log.events.findLast((event) => event.kind === 'SystemPromptEvent');
  if (prompt?.kind !== 'SystemPromptEvent') return;
  const listed = listTools(tools);
  // What the log has of them was masked and may have been cut: a restarted process compares names.
  const same =
    shown === undefined
      ? namesOf(prompt.tools) === namesOf(listed)
      : JSON.stringify(listTools(shown)) === JSON.stringify(listed);
  if (!same)
    await ports.log.append([
      stamp(ports, {
        kind: 'SystemPromptEvent',
        source: 'agent',
        system_prompt: prompt.system_prompt,
        tools: [...listed],
      }),
    ]);
  toolbox.shown = tools;
}

function namesOf(tools: readonly unknown[]): string {
  return JSON.stringify(tools.map((tool) => (tool as { title?: unknown } | null)?.title));
}
