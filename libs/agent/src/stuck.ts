import type { ConversationEvent, EventOf } from '@slipway/contracts';
import { textOf } from './prompt.js';

/** How many events back are looked at. */
const WINDOW = 40;
const SAME_OBSERVATION = 4;
const SAME_ERROR = 3;
const MONOLOGUE = 3;
const ALTERNATING = 6;

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
 * Does the agent repeat itself since the last word from a person?
 * Thresholds are OpenHands': the same action with the same result four times, with an error three times (a nudge first), three messages in a row without
 * an action, two steps that alternate for six.
 */
export function detectStuck(events: readonly ConversationEvent[]): StuckVerdict {
  const from = Math.max(events.findLastIndex((event) => event.kind === 'MessageEvent' && event.source === 'user') + 1, events.length - WINDOW);
  const recent = events.slice(from);
  const nudged = recent.some((event) => event.kind === 'MessageEvent' && event.source === 'environment');
  const talk = recent.filter((event) => event.kind === 'MessageEvent' || event.kind === 'ActionEvent');
  if (talk.slice(-MONOLOGUE).filter((event) => event.kind === 'MessageEvent' && event.source === 'agent').length === MONOLOGUE) {
    return { stuck: 'yes', reason: `The agent wrote ${MONOLOGUE} messages in a row without doing anything.` };
  }
  const steps = stepsOf(recent);
  const last = steps.at(-1);
  if (last === undefined || last.waits) return { stuck: 'no' };
  const repeated = runLength(steps, (step) => step.asked === last.asked && step.answered === last.answered && step.failed === last.failed);
  const failures = runLength(steps, (step) => step.asked === last.asked && step.failed);
  if (last.failed && failures >= SAME_ERROR) {
    if (!nudged) return { stuck: 'nudge', reason: `The same action failed ${failures} times.` };
    if (failures > SAME_ERROR) return { stuck: 'yes', reason: `The same action failed ${failures} times.` };
  }
  if (repeated >= SAME_OBSERVATION) return { stuck: 'yes', reason: `The agent did the same thing ${repeated} times with the same result.` };
  const [a, b] = [steps.at(-2), steps.at(-1)];
  if (a !== undefined && b !== undefined && steps.length >= ALTERNATING && key(a) !== key(b)) {
    const tail = steps.slice(-ALTERNATING);
    if (tail.every((step, index) => key(step) === key(index % 2 === 0 ? a : b)))
      return { stuck: 'yes', reason: 'The agent goes back and forth between the same two actions.' };
  }
  return { stuck: 'no' };
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
      const waits = action.action.kind === 'TerminalAction' && action.action['command'] === '' && action.action['is_input'] !== true;
      steps.push({
        asked: asked(action),
        answered: `${String(event.observation['exit_code'] ?? '')} ${textOf(event.observation.content)}`,
        failed: event.observation.is_error,
        waits,
      });
    }
    if (event.kind === 'AgentErrorEvent') {
      const action = [...open.values()].findLast((candidate) => candidate.tool_call_id === event.tool_call_id);
      if (action !== undefined) open.delete(action.id);
      steps.push({ asked: action === undefined ? event.tool_name : asked(action), answered: event.error, failed: true, waits: false });
    }
  }
  return steps;
}

function key(step: Step): string {
  return `${step.asked}\n${step.answered}`;
}

/** How many steps at the end satisfy `same` without a break. */
function runLength(steps: readonly Step[], same: (step: Step) => boolean): number {
  const other = steps.findLastIndex((step) => !same(step));
  return steps.length - 1 - other;
}
