import type { SandboxAction } from '@slipway/contracts/actions';
import type { EventOf } from '@slipway/contracts/events';
import { SlipwayError } from '@slipway/errors';
import { type Completion, CUT_OFF, type ToolCall } from '@slipway/llm';
import { judge } from './confirmation/needs.js';
import { type EventBody, stamp, statusUpdate } from './events.js';
import { afterTool, beforeTool } from './hooks/moments.js';
import type { AgentPorts, Observation, ParsedCall, RunSettings } from './ports.js';
import { PrintedOutput } from './printed-output.js';
import { leftBehind } from './sub-agents/left-behind.js';
import { isReadOnly } from './tools/tool.js';

/** Said of the action that was running when the user stopped the agent. */
const STOPPED_BY_USER = 'interrupted: the user stopped the agent; the command may or may not have had its effect';
/** Calls of one answer that are under way together. */
const AT_ONCE = 4;
/** Said of the call in which an answer ended that was too long. */
const WAS_CUT =
  'The answer was cut off there because it was too long: send less at once, such as a large file in several parts.';
/** Said of an action whose tool has a fault of its own: the work need not end with it. */
const BROKEN =
  'The tool broke because of a fault of its own; what was asked may or may not have had its effect. Try it in another way.';
/** Said of a confirmed action whose tool is gone. */
const NO_TOOL = 'This action can no longer be carried out: its tool is not there any more.';

/** How the calls of one answer ended: with `finish`, carried out, or waiting for a user. */
export type StepEnd = 'finished' | 'done' | 'waiting';
type ActionEvent = EventOf<'ActionEvent'>;
type ReadCall = Extract<ParsedCall, { ok: true }>;

/**
 * Runs the tool calls of one answer in order, each as action and answer in the log; neighbours that change nothing run
 * beside each other. A call that cannot be read becomes an error that the model sees. When one of them needs
 * confirmation, all of them wait and none has been carried out.
 * @throws the signal's reason when stopped; the action under way then has its answer in the log already.
 */
export async function runToolCalls(
  ports: AgentPorts,
  settings: RunSettings,
  completion: Completion,
  signal: AbortSignal,
): Promise<StepEnd> {
  const calls = completion.toolCalls.map((call, at) => {
    const parsed = ports.toolbox.parse(call);
    const isCut = !parsed.ok && completion.finishReason === CUT_OFF && at === completion.toolCalls.length - 1;
    return { call, parsed: isCut ? { ok: false as const, error: `${parsed.error} ${WAS_CUT}` } : parsed };
  });
  let said = { thought: completion.content, reasoning: completion.reasoning };
  if (said.thought !== '' && calls[0]?.parsed.ok === false) {
    // No action comes first that could carry the text.
    await ports.log.append([
      stamp(ports, {
        kind: 'MessageEvent',
        source: 'agent',
        llm_message: { role: 'assistant', content: [{ type: 'text', text: said.thought }] },
        llm_response_id: completion.id,
      }),
    ]);
    said = { ...said, thought: '' };
  }
  const steps = calls.map(({ call, parsed }) => {
    if (!parsed.ok) return { call, error: parsed.error };
    const action = actionEvent(ports, { responseId: completion.id, call, parsed, said });
    said = { thought: '', reasoning: '' };
    return { call, action, parsed };
  });
  if (await asked(ports, settings, steps)) return 'waiting';
  for (const group of groupsOf(steps)) {
    signal.throwIfAborted();
    const [first] = group;
    if (first === undefined) continue;
    if (first.error !== undefined)
      await ports.log.append([agentError(ports, first.call.name, first.call.id, first.error)]);
    else {
      const calls = group.filter((step) => step.error === undefined);
      await ports.log.append(calls.map(({ action }) => action));
      if ((await carryOut(ports, settings, calls, signal)) === 'finished') return 'finished';
    }
  }
  return 'done';
}

/** Neighbours that change nothing go together; everything else goes alone, in its turn. */
function groupsOf(steps: readonly PlannedStep[]): PlannedStep[][] {
  const groups: PlannedStep[][] = [];
  const isFree = (step: PlannedStep | undefined): boolean =>
    step?.parsed !== undefined && isReadOnly(step.parsed.tool, step.parsed.action);
  for (const step of steps) {
    const last = groups.at(-1);
    if (last !== undefined && isFree(step) && isFree(last[0])) last.push(step);
    else groups.push([step]);
  }
  return groups;
}

/** Carries out the actions that a user has confirmed. @throws as `runToolCalls`. */
export async function runConfirmed(
  ports: AgentPorts,
  settings: RunSettings,
  actions: readonly ActionEvent[],
  signal: AbortSignal,
): Promise<StepEnd> {
  for (const action of actions) {
    signal.throwIfAborted();
    const recalled = ports.toolbox.recall(action);
    if (recalled === null) await ports.log.append([agentError(ports, action.tool_name, action.tool_call_id, NO_TOOL)]);
    else if ((await carryOut(ports, settings, [{ action, parsed: recalled }], signal)) === 'finished')
      return 'finished';
  }
  return 'done';
}

type PlannedStep =
  | { readonly call: ToolCall; readonly error: string; readonly action?: undefined; readonly parsed?: undefined }
  | { readonly call: ToolCall; readonly error?: undefined; readonly action: ActionEvent; readonly parsed: ReadCall };

/**
 * Puts the answer's actions into the log as pending, with their risks, when one of them needs a user. What could not be
 * read is answered at once.
 */
async function asked(
  ports: AgentPorts,
  { confirmation }: RunSettings,
  steps: readonly PlannedStep[],
): Promise<boolean> {
  if (confirmation.policy.kind === 'NeverConfirm') return false;
  const judged = steps.flatMap(({ action, parsed }) =>
    action === undefined
      ? []
      : [
          {
            id: action.id,
            ...judge(confirmation, { toolName: action.tool_name, action: parsed.action, modelRisk: parsed.risk }),
          },
        ],
  );
  if (judged.length === 0) return false;
  const waits = judged.some(({ asks }) => asks);
  const analysis = stamp(ports, {
    kind: 'SecurityAnalysisEvent',
    source: 'environment',
    analyzer: confirmation.analyzer?.kind ?? 'none',
    policy: confirmation.policy.kind,
    risks: Object.fromEntries(judged.map(({ id, risk }) => [id, risk])),
    details: Object.fromEntries(judged.map(({ id, reasons, asks }) => [id, { reasons: [...reasons], asks }])),
  });
  if (!waits) {
    await ports.log.append([analysis]);
    return false;
  }
  await ports.log.append([
    ...steps.map(({ call, error, action }) => action ?? agentError(ports, call.name, call.id, error ?? '')),
    analysis,
    statusUpdate(ports, 'waiting_for_confirmation'),
  ]);
  return true;
}

/**
 * Carries actions out beside each other, at most `AT_ONCE` at a time; their answers come into the log in the order of
 * the actions. An answer is an observation, or an error that the model sees.
 */
async function carryOut(
  ports: AgentPorts,
  settings: RunSettings,
  steps: ReadonlyArray<{ readonly action: ActionEvent; readonly parsed: Pick<ReadCall, 'tool' | 'action'> }>,
  signal: AbortSignal,
): Promise<'finished' | 'done'> {
  const printed = steps.map(({ action }) => new PrintedOutput(action.id, ports.onDelta));
  const underWay = steps.map(() => Promise.withResolvers<EventBody>());
  for (const { promise } of underWay) promise.catch(() => {});
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < steps.length; at = next++) {
      const step = steps[at];
      if (step !== undefined)
        await answerTo(ports, settings, { event: step.action, ...step.parsed, printed: printed[at] }, signal).then(
          underWay[at]?.resolve,
          underWay[at]?.reject,
        );
    }
  };
  for (let count = 0; count < Math.min(AT_ONCE, steps.length); count += 1) void worker();
  let finished = false;
  for (const [at, { parsed }] of steps.entries()) {
    let result: EventBody | undefined;
    try {
      result = await underWay[at]?.promise;
    } catch (error) {
      if (!signal.aborted) throw error;
      await ports.log.appendLast(
        steps.slice(at).map(({ action }, further) => {
          const words = `${STOPPED_BY_USER}${leftBehind(action)}${printed[at + further]?.untilStopped ?? ''}`;
          return agentError(ports, action.tool_name, action.tool_call_id, words);
        }),
      );
      throw signal.reason;
    }
    if (result === undefined) continue;
    await ports.log.append([stamp(ports, result)]);
    finished ||= parsed.action.kind === 'FinishAction' && result.kind === 'ObservationEvent';
  }
  return finished ? 'finished' : 'done';
}

/**
 * The outcome of an action, for the log: the tool's answer, its failure with a sentence for the model, or the refusal
 * of a hook. A fault of the tool itself is logged by the process too. @throws the signal's reason when stopped.
 */
async function answerTo(
  ports: AgentPorts,
  settings: RunSettings,
  {
    event,
    tool,
    action,
    printed,
  }: Pick<ReadCall, 'tool' | 'action'> & { readonly event: ActionEvent; readonly printed: PrintedOutput | undefined },
  signal: AbortSignal,
): Promise<EventBody> {
  signal.throwIfAborted();
  const about = { action_id: event.id, tool_name: event.tool_name, tool_call_id: event.tool_call_id };
  const hooked = ports.hooks !== null && action.kind !== 'FinishAction';
  const refused = hooked ? (await beforeTool(ports, settings, { event, action }, signal)).blocked : null;
  if (refused !== null)
    return {
      kind: 'UserRejectObservation',
      source: 'hook',
      ...about,
      rejection_reason: refused,
      rejection_source: 'hook',
    };
  let observation: Observation;
  try {
    observation =
      tool.observe === undefined
        ? await ports.tools.execute(action as SandboxAction, {
            signal,
            traceparent: ports.traceparent(),
            actionId: event.id,
            ...(printed !== undefined && action.kind === 'TerminalAction' ? { watch: printed } : {}),
          })
        : await tool.observe(action, { events: ports.log.events, event, ports, settings, signal });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof SlipwayError)) ports.onFault(error);
    const words = error instanceof SlipwayError ? error.detail : BROKEN;
    return {
      kind: 'AgentErrorEvent',
      source: 'agent',
      tool_name: about.tool_name,
      tool_call_id: about.tool_call_id,
      error: words,
    };
  }
  const added = hooked ? await afterTool(ports, settings, { event, action, observation }, signal) : '';
  const brought = observation.is_error ? {} : (ports.skillsOf?.(action, ports.log.events) ?? {});
  const extended = [
    ...(added === '' ? [] : [{ type: 'text' as const, text: added }]),
    ...(brought.extended_content ?? []),
  ];
  return {
    kind: 'ObservationEvent',
    source: 'environment',
    ...about,
    observation,
    parent_id: event.id,
    ...brought,
    ...(extended.length === 0 ? {} : { extended_content: extended }),
  };
}

interface SaidCall {
  readonly responseId: string;
  readonly call: ToolCall;
  readonly parsed: ReadCall;
  readonly said: { thought: string; reasoning: string };
}

function actionEvent(ports: AgentPorts, { responseId, call, parsed, said }: SaidCall): ActionEvent {
  return stamp(ports, {
    kind: 'ActionEvent',
    source: 'agent',
    thought: said.thought === '' ? [] : [{ type: 'text', text: said.thought }],
    ...(said.reasoning === '' ? {} : { reasoning_content: said.reasoning }),
    action: parsed.action,
    tool_name: parsed.tool.definition.name,
    tool_call_id: call.id,
    tool_call: { id: call.id, name: call.name, arguments: call.arguments },
    llm_response_id: responseId,
    security_risk: parsed.risk,
    ...(parsed.summary === undefined ? {} : { summary: parsed.summary }),
  }) as ActionEvent;
}

function agentError(ports: AgentPorts, toolName: string, callId: string, error: string): EventOf<'AgentErrorEvent'> {
  return stamp(ports, {
    kind: 'AgentErrorEvent',
    source: 'agent',
    tool_name: toolName,
    tool_call_id: callId,
    error,
  }) as EventOf<'AgentErrorEvent'>;
}
