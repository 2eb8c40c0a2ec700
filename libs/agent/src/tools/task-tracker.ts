import { TaskTrackerAction } from '@slipway/contracts/actions';
import { type ConversationEvent } from '@slipway/contracts/events';
import type { Tool } from '../ports.js';
import { define } from './tool.js';

type Plan = TaskTrackerAction['task_list'];

/** The plan is stored in the log: the last observation that holds one is the plan. */
export const TASK_TRACKER: Tool = {
  definition: define(
    'task_tracker',
    'Keeps the plan of a task of several steps, where the user sees it. `plan` replaces the whole list; `view` shows it. Have one item in progress at a time; set it to done when it is.',
    {
      command: { type: 'string', enum: ['view', 'plan'] },
      task_list: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            title: { type: 'string' },
            notes: { type: 'string' },
            status: { type: 'string', enum: ['todo', 'in_progress', 'done'] },
          },
          required: ['title'],
        },
      },
    },
    ['command'],
  ),
  kind: 'TaskTrackerAction',
  schema: TaskTrackerAction.strip(),
  observe(action, { events }) {
    const { command, task_list: given } = action as TaskTrackerAction;
    const tasks = command === 'plan' ? given : planOf(events);
    const lines = tasks.map(
      (task, index) => `${index + 1}. [${task.status}] ${task.title}${task.notes === '' ? '' : `: ${task.notes}`}`,
    );
    const text =
      tasks.length === 0
        ? 'There is no plan.'
        : `${command === 'plan' ? 'The plan is now' : 'The plan'}:\n${lines.join('\n')}`;
    return {
      kind: 'TaskTrackerObservation',
      content: [{ type: 'text', text }],
      is_error: false,
      command,
      task_list: tasks,
    };
  },
};

/** The plan as the log has it; empty when there is none. */
export function planOf(events: readonly ConversationEvent[]): Plan {
  const last = events.findLast(
    (event) => event.kind === 'ObservationEvent' && event.observation.kind === 'TaskTrackerObservation',
  );
  return last?.kind === 'ObservationEvent' && Array.isArray(last.observation['task_list'])
    ? (last.observation['task_list'] as Plan)
    : [];
}
