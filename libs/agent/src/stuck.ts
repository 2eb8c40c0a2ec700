import { type ConversationEvent, type EventOf, stateValueOf } from '@slipway/contracts/events';
import { isSeenByModel } from './condenser/condensation.js';
import { textOf } from './prompt.js';

/** Number of latest events checked, of those that the model sees. */
const WINDOW = 20;
const SAME_OBSERVATION = 4;
const SAME_ERROR = 3;
const MONOLOGUE = 3;
const ALTERNATING = 6;
/** `sender` of a nudge. */
export const NUDGE = 'stuck-detector';

export type StuckVerdict = { readonly stuck: 'no' } | { readonly stuck: 'nudge' | 'yes'; readonly reason: string };

interface Step {
  /** The action, the same for two calls that ask for the same. */
  readonly asked: string;
  readonly answered: string;
  readonly failed: boolean;
  /** True when the step only waits for a running command: waiting is not a loop. */
  readonly waits: boolean;
}

/**
 * Whether the agent repeats itself, since the last user message and the last warning. Thresholds are
 * OpenHands': the same action with the same result four times, with an error three times, three messages in a row
 * without an action, two steps that alternate for six. (The fifth kind, a conversation that stays too long for the
 * model, shows in the run itself.) The first time the model gets a warning; if that did not help, the run is stuck.
 */
export function detectStuck(events: readonly ConversationEvent[]): StuckVerdict {
  const recent = events
    .slice(events.findLastIndex(isNewBeginning) + 1)
    .filter(isSeenByModel)
    .slice(-WINDOW);
  const reason = repetitionIn(recent);
  if (reason === null) return { stuck: 'no' };
  const nudged = recent.findLastIndex(
    (event) => event.kind === 'MessageEvent' && event.source === 'environment' && event.sender === NUDGE,
  );
  if (nudged === -1) return { stuck: 'nudge', reason };
  // The model must have read the warning.
  return recent.slice(nudged + 1).some(isOfAgent) ? { stuck: 'yes', reason } : { stuck: 'no' };
}

function isNewBeginning(event: ConversationEvent): boolean {
  if (event.kind === 'MessageEvent') return event.source === 'user';
  return stateValueOf(event, 'execution_status') === 'stuck';
}

function isOfAgent(event: ConversationEvent): boolean {
  return event.source === 'agent';
}

function repetitionIn(recent: readonly ConversationEvent[]): string | null {
  const talk = recent.filter(
    (event) =>
      (event.kind === 'MessageEvent' && event.source === 'agent') ||
      event.kind === 'ActionEvent' ||
      event.kind === 'AgentErrorEvent',
  );
  const words = talk.length - 1 - talk.findLastIndex((event) => event.kind !== 'MessageEvent');
  if (words >= MONOLOGUE) return `The agent wrote ${words} messages in a row without doing anything.`;
  const steps = stepsOf(recent);
  const last = steps.at(-1);
  if (last === undefined || last.waits) return null;
  const failures = runLength(steps, (step) => step.asked === last.asked && step.failed);
  if (last.failed && failures >= SAME_ERROR) return `The same action failed ${failures} times.`;
  const repeated = runLength(steps, (step) => key(step) === key(last));
  if (repeated >= SAME_OBSERVATION) return `The agent did the same thing ${repeated} times with the same result.`;
  const before = steps.at(-2);
  if (before === undefined || before.waits || steps.length < ALTERNATING || key(before) === key(last)) return null;
  const alternates = steps
    .slice(-ALTERNATING)
    .every((step, index) => key(step) === key(index % 2 === 0 ? before : last));
  return alternates ? 'The agent goes back and forth between the same two actions.' : null;
}

function stepsOf(events: readonly ConversationEvent[]): Step[] {
  const steps: Step[] = [];
  const open = new Map<string, EventOf<'ActionEvent'>>();
  const asked = (action: EventOf<'ActionEvent'>): string => `${action.tool_name} ${JSON.stringify(action.action)}`;
  for (const event of events) {
    if (event.kind === 'ActionEvent') open.set(event.id, event);
    if (event.kind === 'ObservationEvent') {
      const action = open.get(event.action_id);
      if (action === undefined) continue;
      open.delete(action.id);
      const waits =
        action.action.kind === 'TerminalAction' &&
        action.action['command'] === '' &&
        action.action['is_input'] !== true;
      const answered = `${String(event.observation['exit_code'] ?? '')} ${textOf(event.observation.content)}`;
      steps.push({ asked: asked(action), answered, failed: event.observation.is_error, waits });
    }
    if (event.kind === 'AgentErrorEvent') {
      const action = [...open.values()].findLast((candidate) => candidate.tool_call_id === event.tool_call_id);
      if (action !== undefined) open.delete(action.id);
      steps.push({
        asked: action === undefined ? event.tool_name : asked(action),
        answered: event.error,
        failed: true,
        waits: false,
      });
    }
  }
  return steps;
}

function key(step: Step): string {
  return `${step.asked}\n${step.failed} ${step.answered}`;
}

/** How many steps at the end satisfy `same` without a break. */
function runLength(steps: readonly Step[], same: (step: Step) => boolean): number {
  const other = steps.findLastIndex((step) => !same(step));
  return steps.length - 1 - other;
}
