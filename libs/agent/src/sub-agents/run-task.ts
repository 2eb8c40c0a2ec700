import type { TaskAction } from '@slipway/contracts/actions';
import { cutMiddle } from '../condenser/transcript.js';
import type { Observation, OwnToolContext } from '../ports.js';
import type { SubAgentKind } from './kinds.js';
import { runSubAgent } from './run-sub-agent.js';
import { eventsOfTask, newTaskId } from './sub-agent-log.js';

/** Longest report that reaches the parent. Characters. */
export const MAX_REPORT = 30_000;

/**
 * Works on a task until its agent has finished or cannot go on; either is an observation for the parent. @throws as
 * `runSubAgent`.
 */
export async function runTask(task: TaskAction, kind: SubAgentKind, context: OwnToolContext): Promise<Observation> {
  const asked = task.resume ?? '';
  const known = asked !== '' && eventsOfTask(context.ports.log.events, asked).length > 0;
  const taskId = known ? asked : newTaskId(context.event.id);
  const prompt =
    known || asked === ''
      ? task.prompt
      : `${task.prompt}\n\n(You were meant to go on with ${asked}, of which nothing is known any more.)`;
  const { outcome, said, why } = await runSubAgent({ taskId, prompt, usageId: `task:${kind.name}` }, kind, context);
  const done = outcome === 'finished';
  const text = done
    ? `${said === '' ? 'The sub-agent finished without a word.' : said}\n\n[task_id: ${taskId}]`
    : `The sub-agent did not finish. ${why}${said === '' ? '' : `\nIts last words:\n${said}`}\n\n[task_id: ${taskId}; give it as resume to let it go on]`;
  return {
    kind: 'TaskObservation',
    content: [{ type: 'text', text: cutMiddle(text, MAX_REPORT) }],
    is_error: !done,
    task_id: taskId,
    subagent: kind.name,
    status: done ? 'completed' : outcome,
  };
}
