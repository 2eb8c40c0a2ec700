import type { Actor } from '../../intent.js';
import type { RepositoryChoice } from '../../provider.js';
import { fields, id, maybe, name, text } from '../../reading/fields.js';
import { own } from '../../reading/reading.js';

/** Names the choice of a repository among our buttons. */
const ACTION = 'slipway.repository';
/** Longest that Slack shows of an option, and longest value that all its versions take. Characters. */
const MAX_LABEL = 75;
const MAX_VALUE = 75;
/** Options in one answer. */
const MAX_OPTIONS = 100;

/** The blocks of a message that asks for a repository. @param words in mrkdwn */
export const choiceBlocks = (words: string): readonly object[] => [
  { type: 'section', text: { type: 'mrkdwn', text: words } },
  {
    type: 'actions',
    elements: [
      {
        type: 'external_select',
        action_id: ACTION,
        min_query_length: 0,
        placeholder: { type: 'plain_text', text: 'Choose a repository' },
      },
    ],
  },
];

const suggestion = fields({
  type: name,
  action_id: name,
  value: maybe(text),
  user: fields({ id, team_id: maybe(id), name: maybe(name) }),
  team: fields({ id }),
});

export const slackChoice: RepositoryChoice = {
  suggestsFor: ({ body }) => {
    if (own(body, 'type') !== 'block_suggestion') return null;
    const read = suggestion.safeParse(body);
    if (!read.success || read.data.action_id !== ACTION) return { typed: '', actor: NOBODY };
    const { value, user, team } = read.data;
    const foreign = (user.team_id ?? team.id) !== team.id;
    return {
      typed: (value ?? '').trim().slice(0, 200),
      actor: { id: user.id, login: user.name ?? user.id, kind: 'user', ...(foreign ? { foreign: true as const } : {}) },
    };
  },
  suggestions: (options) => ({
    options: options
      .filter(({ value }) => value.length <= MAX_VALUE)
      .slice(0, MAX_OPTIONS)
      .map(({ label, value }) => ({ text: { type: 'plain_text', text: label.slice(0, MAX_LABEL) }, value })),
  }),
  chosen: ({ trigger, instruction }) => (trigger === 'button' && instruction.id === ACTION ? instruction.text : null),
};

/** Of something else that Slack wants suggestions for. */
const NOBODY: Actor = { id: '0', login: 'nobody', kind: 'app', foreign: true };
