import { InvokeSkillAction } from '@slipway/contracts/actions';
import type { Observation, Tool } from '../ports.js';
import { define } from '../tools/tool.js';
import type { Skill } from './skill.js';

/** Reads a skill that the system prompt names. */
export function invokeSkillTool(skills: readonly Skill[]): Tool {
  const listed = new Map(skills.filter(({ shown }) => shown === 'listed').map((skill) => [skill.name, skill]));
  return {
    definition: define(
      'invoke_skill',
      'Reads one of the available skills: instructions for a kind of work. Read it before you begin with what it is about.',
      {
        name: { type: 'string', enum: [...listed.keys()] },
      },
      ['name'],
    ),
    kind: 'InvokeSkillAction',
    schema: InvokeSkillAction.strip(),
    readOnly: true,
    observe(action): Observation {
      const { name } = action as InvokeSkillAction;
      const skill = listed.get(name);
      const where = skill?.source == null ? '' : `\n\n[${skill.source}; other files that it speaks of are beside it]`;
      const text =
        skill === undefined
          ? `There is no skill "${name}". The skills are: ${[...listed.keys()].join(', ')}.`
          : `${skill.content}${where}`;
      return {
        kind: 'InvokeSkillObservation',
        content: [{ type: 'text', text }],
        is_error: skill === undefined,
        skill_name: name,
      };
    },
  };
}
