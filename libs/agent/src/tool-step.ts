import type { EventOf, SandboxAction } from '@slipway/contracts';
import { SlipwayError } from '@slipway/errors';
import type { Completion, ToolCall } from '@slipway/llm';
import { stamp } from './events.js';
import type { AgentPorts } from './ports.js';
import type { Observation } from './tools/tool.js';

/** Said of the action that was running when the user stopped the agent. */
const STOPPED_BY_USER = 'interrupted: the user stopped the agent; the command may or may not have had its effect';

/**
 * Runs the tool calls of one answer in order, each as action and answer in the log. A call that cannot be read becomes an error that the model sees.
 * Resolves to true when one of them was `finish`.
 * @throws the signal's reason when stopped; the action under way then has its answer in the log already.
 */
export async function runToolCalls(ports: AgentPorts, completion: Completion, signal: AbortSignal): Promise<boolean> {
  let thought = completion.content;
  let reasoning = completion.reasoning;
  const parsedCalls = completion.toolCalls.map((call) => ({ call, parsed: ports.toolbox.parse(call) }));
  if (thought !== '' && parsedCalls[0]?.parsed.ok === false) {
    // No action comes first that could carry the text.
    await ports.log.append([
      stamp(ports, {
        kind: 'MessageEvent',
        source: 'agent',
        llm_message: { role: 'assistant', content: [{ type: 'text', text: thought }] },
        llm_response_id: completion.id,
      }),
    ]);
    thought = '';
  }
  for (const { call, parsed } of parsedCalls) {
    signal.throwIfAborted();
    if (!parsed.ok) {
      await ports.log.append([agentError(ports, call, parsed.error)]);
      continue;
    }
    const action = stamp(ports, {
      kind: 'ActionEvent',
      source: 'agent',
      thought: thought === '' ? [] : [{ type: 'text', text: thought }],
      ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
      action: parsed.action,
      tool_name: parsed.tool.definition.name,
      tool_call_id: call.id,
      tool_call: { id: call.id, name: call.name, arguments: call.arguments },
      llm_response_id: completion.id,
      security_risk: parsed.risk,
      ...(parsed.summary === undefined ? {} : { summary: parsed.summary }),
    }) as EventOf<'ActionEvent'>;
    thought = '';
    reasoning = '';
    await ports.log.append([action]);
    let observation: Observation;
    try {
      observation =
        parsed.tool.observe === undefined
          ? await ports.tools.execute(parsed.action as SandboxAction, { signal, traceparent: ports.traceparent() })
          : await parsed.tool.observe(parsed.action, { events: ports.log.events, signal });
    } catch (error) {
      if (signal.aborted) {
        await ports.log.appendLast([agentError(ports, call, STOPPED_BY_USER, action.tool_name)]);
        throw signal.reason;
      }
      if (!(error instanceof SlipwayError)) throw error;
      await ports.log.append([agentError(ports, call, error.detail, action.tool_name)]);
      continue;
    }
    await ports.log.append([answer(ports, action, observation)]);
    if (parsed.action.kind === 'FinishAction') return true;
  }
  return false;
}

function agentError(ports: AgentPorts, call: ToolCall, error: string, name = call.name): EventOf<'AgentErrorEvent'> {
  return stamp(ports, { kind: 'AgentErrorEvent', source: 'agent', tool_name: name, tool_call_id: call.id, error }) as EventOf<'AgentErrorEvent'>;
}

function answer(ports: AgentPorts, action: EventOf<'ActionEvent'>, observation: EventOf<'ObservationEvent'>['observation']): EventOf<'ObservationEvent'> {
  return stamp(ports, {
    kind: 'ObservationEvent',
    source: 'environment',
    action_id: action.id,
    tool_name: action.tool_name,
    tool_call_id: action.tool_call_id,
    observation,
    parent_id: action.id,
  }) as EventOf<'ObservationEvent'>;
}
