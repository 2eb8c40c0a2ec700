import { type AgentAction, hookNamesOf } from '@slipway/contracts/actions';
import type { ConversationEvent, EventOf } from '@slipway/contracts/events';
import { type EventStamp, stamp } from '../events.js';
import type { AgentPorts, Observation, RunSettings } from '../ports.js';
import { textOf } from '../prompt.js';
import { type HookVerdict, runHooks } from './run-hooks.js';

/** `sender` of what a hook says to the model. */
const HOOK = 'hook';
/** Asked before an action happens. `finish` is asked at `stop`. */
export function beforeTool(
  ports: AgentPorts,
  settings: RunSettings,
  { event, action }: { readonly event: EventOf<'ActionEvent'>; readonly action: AgentAction },
  signal: AbortSignal,
): Promise<HookVerdict> {
  return runHooks(ports, settings, { type: 'PreToolUse', ...toolOf(event, action) }, signal);
}

/** Receives an action's answer. Its objections are passed to the model. */
export async function afterTool(
  ports: AgentPorts,
  settings: RunSettings,
  {
    event,
    action,
    observation,
  }: { readonly event: EventOf<'ActionEvent'>; readonly action: AgentAction; readonly observation: Observation },
  signal: AbortSignal,
): Promise<string> {
  const { input, ...tool } = toolOf(event, action);
  const { blocked, context } = await runHooks(
    ports,
    settings,
    { type: 'PostToolUse', ...tool, input: { ...input, tool_response: observation } },
    signal,
  );
  return [...(blocked === null ? [] : [`A hook of the repository says of this: ${blocked}`]), context]
    .filter((text) => text !== '')
    .join('\n\n');
}

/** Asked of each message that is taken in: the events that say so, and whether any may be worked on. */
export async function ofMessages(
  ports: AgentPorts,
  settings: RunSettings,
  messages: ReadonlyArray<EventOf<'MessageEvent'>>,
  signal: AbortSignal,
): Promise<{ before: ConversationEvent[]; after: ConversationEvent[]; allBlocked: boolean }> {
  const before: ConversationEvent[] = [];
  const after: ConversationEvent[] = [];
  let blocked = 0;
  for (const message of messages) {
    const prompt = textOf(message.llm_message.content);
    const verdict = await runHooks(
      ports,
      settings,
      { type: 'UserPromptSubmit', messageId: message.id, input: { prompt, message: prompt } },
      signal,
    );
    if (verdict.blocked !== null) {
      blocked += 1;
      // It stays in the log; the model never sees it.
      before.push(
        stamp(ports, {
          kind: 'Condensation',
          source: 'hook',
          forgotten_event_ids: [message.id],
          summary: null,
          summary_offset: null,
          llm_response_id: '',
        }),
      );
    } else if (verdict.context !== '') after.push(saidByHook(ports, verdict.context));
  }
  return { before, after, allBlocked: messages.length > 0 && blocked === messages.length };
}

/** Once in a conversation, before its first step. */
export async function sessionStart(ports: AgentPorts, settings: RunSettings, signal: AbortSignal): Promise<void> {
  if (
    ports.hooks === null ||
    ports.log.events.some((event) => event.kind === 'HookExecutionEvent' && event.hook_event_type === 'SessionStart')
  )
    return;
  const { context } = await runHooks(ports, settings, { type: 'SessionStart', input: { source: 'startup' } }, signal);
  if (context !== '') await ports.log.append([saidByHook(ports, context)]);
}

export async function sessionEnd(ports: AgentPorts, settings: RunSettings, signal: AbortSignal): Promise<void> {
  await runHooks(ports, settings, { type: 'SessionEnd', input: { reason: 'other' } }, signal);
}

/** Runs when the agent is about to end its work. @returns true when it has to go on; the model has the reason then. */
export async function keepsGoing(
  ports: AgentPorts,
  settings: RunSettings,
  again: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const { blocked } = await runHooks(ports, settings, { type: 'Stop', input: { stop_hook_active: again } }, signal);
  if (blocked === null) return false;
  await ports.log.append([saidByHook(ports, `You are not done yet, says a hook of the repository: ${blocked}`)]);
  return true;
}

function saidByHook(by: EventStamp, text: string): ConversationEvent {
  return stamp(by, {
    kind: 'MessageEvent',
    source: 'environment',
    sender: HOOK,
    llm_message: { role: 'user', content: [{ type: 'text', text }] },
  });
}

function toolOf(event: EventOf<'ActionEvent'>, action: AgentAction) {
  const { kind: _, ...args } = action;
  return {
    tools: [event.tool_name, ...hookNamesOf(event.action.kind)],
    actionId: event.id,
    input: { tool_input: args },
  };
}
