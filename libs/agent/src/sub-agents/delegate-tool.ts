import { type AgentDefinition, DelegateAction, MAX_NAMED_SUB_AGENTS } from '@slipway/contracts/actions';
import type { Tool } from '../ports.js';
import { define } from '../tools/tool.js';
import { delegate, spawn } from './delegate.js';
import { kindsOf } from './kinds.js';

/**
 * Hands tasks to several sub-agents at once, each with a name and a context of its own; only what they say at their end
 * comes back.
 */
export function delegateTool(definitions: readonly AgentDefinition[]): Tool {
  const kinds = kindsOf(definitions);
  return {
    definition: define(
      'delegate',
      [
        `Lets several other agents work at the same time, in the same sandbox. First \`spawn\` them with names (at most ${MAX_NAMED_SUB_AGENTS}), then \`delegate\` a task to each.`,
        'Each knows nothing but the tasks that it was given, and keeps what it knows for its next task; you see only what each reports at its end. Say what to report.',
        'Their tasks must not change the same files. Use task where one agent is enough.',
        `Kinds of agents:\n${[...kinds.values()].map(({ name, description }) => `- ${name}: ${description}`).join('\n')}`,
      ].join('\n'),
      {
        command: { type: 'string', enum: ['spawn', 'delegate'] },
        ids: { type: 'array', items: { type: 'string' }, description: 'For spawn: names of the agents.' },
        agent_types: {
          type: 'array',
          items: { type: 'string' },
          description: 'For spawn: the kind of each of them, in the same order.',
        },
        tasks: {
          type: 'object',
          additionalProperties: { type: 'string' },
          description: 'For delegate: by name of the agent, all that it needs to know and what to report.',
        },
      },
      ['command'],
    ),
    kind: 'DelegateAction',
    schema: DelegateAction.strip(),
    makesSubAgents: true,
    observe: (action, context) => {
      const delegated = action as DelegateAction;
      return delegated.command === 'spawn' ? spawn(delegated, kinds, context) : delegate(delegated, kinds, context);
    },
  };
}
