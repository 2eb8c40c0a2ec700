import { DelegatedTask } from '@slipway/contracts/actions';
import type { LoggedInside, Step, StepState } from './timeline-row.ts';
import { stepState } from './timeline-row.ts';

/** One of the sub-agents that a call lets work beside each other. */
export interface SubAgentWork {
  readonly taskId: string;
  readonly name: string;
  /** What it was asked; empty while its call is above the loaded part. */
  readonly prompt: string;
  readonly state: StepState;
  /** Its own events, oldest first. */
  readonly inside: readonly LoggedInside[];
}

/** As `delegate` makes the id of a task: of the spawning action, and the name. */
const NAMED_TASK = /^delegate_[^_]+_(.+)$/s;

/**
 * What each sub-agent of a `delegate` did, apart from the others, in the order in which the call names them: they write
 * into one log in turns.
 */
export function subAgentsOf(step: Step): readonly SubAgentWork[] {
  const tasks = step.action?.['tasks'];
  const prompts = new Map(
    Object.entries(typeof tasks === 'object' && tasks !== null ? tasks : {}).map(([name, text]) => [
      name,
      String(text),
    ]),
  );
  const inside = new Map<string, LoggedInside[]>();
  const ids = new Map<string, string>();
  for (const logged of step.inside ?? []) {
    const name = NAMED_TASK.exec(logged.taskId)?.[1] ?? logged.taskId;
    ids.set(name, logged.taskId);
    const own = inside.get(name);
    if (own === undefined) inside.set(name, [logged]);
    else own.push(logged);
  }
  const ended = DelegatedTask.array().safeParse(step.observation?.['agents']).data ?? [];
  const whole = stepState(step);
  return [...new Set([...prompts.keys(), ...inside.keys()])].map((name) => {
    const status = ended.find(({ id }) => id === name)?.status;
    return {
      taskId: ids.get(name) ?? name,
      name,
      prompt: prompts.get(name) ?? '',
      state:
        status === undefined ? whole : status === 'completed' ? 'done' : status === 'paused' ? 'interrupted' : 'failed',
      inside: inside.get(name) ?? [],
    };
  });
}
