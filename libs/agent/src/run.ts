import { ERRORS, type ErrorCode } from '@slipway/contracts/errors';
import { isAcceptedAndPending, pendingActions, runtimeStatusOf } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { Completion } from '@slipway/llm';
import { classify } from './classification.js';
import { condensationAsked } from './condenser/condensation.js';
import { type CondensationReason, condense, condenseAsAsked, isFull } from './condenser/condense.js';
import { pendingMessages, stamp, stampUpdate, statusUpdate, TAKEN_IN } from './events.js';
import { keepsGoing, ofMessages, sessionStart } from './hooks/moments.js';
import { callModel } from './model-call.js';
import type { AgentPorts, RunControl, RunOutcome, RunSettings } from './ports.js';
import { messagesOf } from './prompt.js';
import { withShownPictures } from './shown-pictures.js';
import { detectStuck, NUDGE } from './stuck.js';
import { runConfirmed, runToolCalls } from './tool-step.js';
import { showTools } from './tools/shown-tools.js';

/**
 * Lets the agent work until it has finished, is stopped, or cannot go on. Everything that happens is in the log before
 * the next thing begins, and the log is all that a later run needs. Never rejects for a failure of the model, a tool or
 * the disk: those end as events.
 *
 * @throws what the log rejects with, when not even the last event could be kept.
 */
export async function runAgent(ports: AgentPorts, settings: RunSettings, control: RunControl): Promise<RunOutcome> {
  try {
    // Only what was accepted in the log: the start of a run accepts nothing.
    const confirmed = pendingActions(ports.log.events);
    const mayGoOn =
      confirmed.length === 0 ||
      (isAcceptedAndPending(ports.log.events) && settings.mayCarryOut(confirmed.map(({ id }) => id)));
    if (!mayGoOn) return 'waiting';
    await ports.log.append([statusUpdate(ports, 'running')]);
    if (
      (await runConfirmed(ports, settings, confirmed, control.signal)) === 'finished' &&
      pendingMessages(ports.log.events).length === 0
    ) {
      await ports.log.append([statusUpdate(ports, 'finished')]);
      return 'finished';
    }
    return await steps(ports, settings, control);
  } catch (error) {
    if (isFenced(error)) return 'fenced';
    try {
      if (control.signal.aborted) {
        await ports.log.appendLast([
          stamp(ports, { kind: 'InterruptEvent', source: 'user' }),
          statusUpdate(ports, 'paused'),
        ]);
        return 'interrupted';
      }
      if (!(error instanceof SlipwayError)) ports.onFault(error);
      const failure =
        error instanceof SlipwayError
          ? error
          : new SlipwayError('internal.unexpected', 'The agent stopped because of a fault of its own.', {
              cause: error,
              internal: String(error),
            });
      if (failure.code === 'budget.exhausted' || failure.code === 'agent.budget-limit') {
        await halt(ports, failure.code, failure.detail);
        return 'paused';
      }
      const outcome = failure.code === 'agent.stuck' ? 'stuck' : 'error';
      await fail(ports, failure.code, failure.detail, outcome);
      return outcome;
    } catch (last) {
      if (isFenced(last)) return 'fenced';
      throw last;
    }
  }
}

/** How often hooks of one run may say that the agent is not done: less than what counts as stuck. */
const MAX_OBJECTIONS = 3;

async function steps(ports: AgentPorts, settings: RunSettings, control: RunControl): Promise<RunOutcome> {
  const { log } = ports;
  let objections = 0;
  await sessionStart(ports, settings, control.signal);
  await ports.toolbox.settled(control.signal);
  for (let iteration = 1; ; iteration += 1) {
    control.signal.throwIfAborted();
    if (control.pauseRequested()) {
      await log.append([stamp(ports, { kind: 'PauseEvent', source: 'user' }), statusUpdate(ports, 'paused')]);
      return 'paused';
    }
    // Nothing but refused messages since the last run: there is nothing to do.
    if ((await takeIn(ports, settings, control.signal)) === 'all-refused' && iteration === 1) {
      await log.append([statusUpdate(ports, 'finished')]);
      return 'finished';
    }
    if (settings.stuckDetection) {
      const verdict = detectStuck(log.events);
      if (verdict.stuck === 'yes') {
        await fail(ports, 'agent.stuck', `${verdict.reason} ${ERRORS['agent.stuck'].nextStep}`, 'stuck');
        return 'stuck';
      }
      if (verdict.stuck === 'nudge') await nudge(ports, verdict.reason);
    }
    const limit = limitReached(ports, settings, iteration);
    if (limit !== null) {
      await halt(ports, limit.code, limit.detail);
      return 'paused';
    }
    await log.room(control.signal);
    if (condensationAsked(log.events)) await condenseAsAsked(ports, settings, control.signal);
    else if (isFull(ports, settings.condenser)) await condense(ports, settings, 'automatic', control.signal);
    await showTools(ports);
    const completion = await complete(ports, settings, control.signal);
    const end =
      completion.toolCalls.length === 0
        ? await say(ports, completion)
        : await runToolCalls(ports, settings, completion, control.signal);
    if (end === 'waiting') return 'waiting';
    // A message that arrived in the meantime keeps the agent at work, and so does a hook, within bounds.
    if (end !== 'finished' || pendingMessages(log.events).length > 0) continue;
    if (
      ports.hooks !== null &&
      objections < MAX_OBJECTIONS &&
      (await keepsGoing(ports, settings, objections > 0, control.signal))
    ) {
      objections += 1;
      continue;
    }
    await log.append([statusUpdate(ports, 'finished')]);
    return 'finished';
  }
}

/** Marks the messages that have arrived as heard. What a hook refuses is never seen by the model. */
async function takeIn(ports: AgentPorts, settings: RunSettings, signal: AbortSignal): Promise<'all-refused' | 'taken'> {
  const messages = pendingMessages(ports.log.events);
  const latest = messages.at(-1);
  if (latest === undefined) return 'taken';
  const heard =
    ports.hooks === null
      ? { before: [], after: [], allBlocked: false }
      : await ofMessages(ports, settings, messages, signal);
  await ports.log.append([...heard.before, stampUpdate(ports, { key: TAKEN_IN, value: latest.id }), ...heard.after]);
  return heard.allBlocked ? 'all-refused' : 'taken';
}

/** How a conversation is shortened that the model refuses as too long, one way after the other; then it is given up. */
const WHEN_TOO_LONG: readonly CondensationReason[] = ['too-long', 'everything'];

async function complete(ports: AgentPorts, settings: RunSettings, signal: AbortSignal): Promise<Completion> {
  for (let refusals = 0; ; refusals += 1) {
    const messages = await withShownPictures(messagesOf(ports.log.events), ports.readPicture);
    const request = { messages, tools: ports.toolbox.definitions };
    try {
      return await callModel(ports, { usage: 'agent', request, retries: settings.modelRetries, signal, shown: true });
    } catch (error) {
      if (!(error instanceof SlipwayError) || error.code !== 'model.context-exceeded') throw error;
      const reason = WHEN_TOO_LONG[refusals];
      if (reason !== undefined && (await condense(ports, settings, reason, signal))) continue;
      if (refusals === 0) throw error;
      throw new SlipwayError(
        'agent.stuck',
        'The conversation stays longer than the model can read, however much of it is summarized.',
        { cause: error },
      );
    }
  }
}

/** A plain answer ends the run, as in OpenHands. */
async function say(ports: AgentPorts, completion: Completion): Promise<'finished'> {
  const text = completion.content === '' ? completion.reasoning : completion.content;
  await ports.log.append([
    stamp(ports, {
      kind: 'MessageEvent',
      source: 'agent',
      llm_message: { role: 'assistant', content: [{ type: 'text', text }] },
      llm_response_id: completion.id,
    }),
  ]);
  return 'finished';
}

async function nudge(ports: AgentPorts, reason: string): Promise<void> {
  const text = `${reason} Stop and look at why it fails. Try another way, or finish and tell the user what stands in the way.`;
  await ports.log.append([
    stamp(ports, {
      kind: 'MessageEvent',
      source: 'environment',
      sender: NUDGE,
      llm_message: { role: 'user', content: [{ type: 'text', text }] },
    }),
  ]);
}

async function fail(ports: AgentPorts, code: ErrorCode, detail: string, status: 'error' | 'stuck'): Promise<void> {
  await ports.log.appendLast([
    stamp(ports, {
      kind: 'ConversationErrorEvent',
      source: 'environment',
      code,
      detail,
      classification: classify(code),
      runtime_status: runtimeStatusOf(code),
    }),
    statusUpdate(ports, status),
  ]);
}

/** Limits that stop a run which could go on: a user may raise them, and `run` or a message continues it. */
function limitReached(
  ports: AgentPorts,
  settings: RunSettings,
  iteration: number,
): { code: ErrorCode; detail: string } | null {
  if (iteration > settings.maxIterations)
    return {
      code: 'agent.iteration-limit',
      detail: `The agent used its ${settings.maxIterations} steps. ${ERRORS['agent.iteration-limit'].nextStep}`,
    };
  const { accumulated_cost: cost } = (ports.spent ?? ports.stats).value;
  if (settings.maxCostUsd !== null && cost >= settings.maxCostUsd)
    return {
      code: 'agent.budget-limit',
      detail: `This conversation cost $${cost.toFixed(2)} so far; its own limit is $${settings.maxCostUsd.toFixed(2)}. ${ERRORS['agent.budget-limit'].nextStep}`,
    };
  return null;
}

/** Nothing is broken: the log says why, and the run halts where it is. A message or a resume goes on from there. */
async function halt(ports: AgentPorts, code: ErrorCode, detail: string): Promise<void> {
  await ports.log.appendLast([
    stamp(ports, {
      kind: 'ConversationErrorEvent',
      source: 'environment',
      code,
      detail,
      classification: classify(code),
    }),
    stamp(ports, { kind: 'PauseEvent', source: 'environment' }),
    statusUpdate(ports, 'paused'),
  ]);
}

function isFenced(error: unknown): boolean {
  return error instanceof SlipwayError && error.code === 'ingest.stale-epoch';
}
