import { type AgentDefinition, TaskAction } from '@slipway/contracts/actions';
import type { Observation, Tool } from '../ports.js';
import { define } from '../tools/tool.js';
import { DEFAULT_KIND, kindsOf } from './kinds.js';
import { runTask } from './run-task.js';

/** Hands a task to a sub-agent with a context of its own; only what it says at its end comes back. */
export function taskTool(definitions: readonly AgentDefinition[]): Tool {
  const kinds = kindsOf(definitions);
  return {
    definition: define(
      'task',
      [
        'Hands a task to another agent in the same sandbox, with a context of its own: it knows nothing of this conversation but `prompt`, and you see only what it reports at its end.',
        'Use it for a part that can be described in a few sentences and needs many steps, such as finding out how something works. Say what to report.',
        `Kinds of agents:\n${[...kinds.values()].map(({ name, description }) => `- ${name}: ${description}`).join('\n')}`,
      ].join('\n'),
      {
        description: { type: 'string', description: 'The task in three to five words.' },
        prompt: { type: 'string', description: 'All that the agent needs to know, and what it has to report.' },
        subagent_type: { type: 'string', enum: [...kinds.keys()] },
        resume: {
          type: 'string',
          description: 'The task_id of an earlier task: its agent goes on with all that it knows.',
        },
      },
      ['prompt'],
    ),
    kind: 'TaskAction',
    schema: TaskAction.strip(),
    makesSubAgents: true,
    readOnly: (action) => action.kind === 'TaskAction' && kinds.get(action.subagent_type)?.readOnly === true,
    observe: async (action, context): Promise<Observation> => {
      const task = action as TaskAction;
      const kind = kinds.get(task.subagent_type);
      if (kind !== undefined) return runTask(task, kind, context);
      const text = `There is no kind of agent "${task.subagent_type}". The kinds are: ${[...kinds.keys()].join(', ')}; without one it is ${DEFAULT_KIND}.`;
      return {
        kind: 'TaskObservation',
        content: [{ type: 'text', text }],
        is_error: true,
        task_id: '',
        subagent: task.subagent_type,
        status: 'error',
      };
    },
  };
}
