import type { Press } from '../../intent.js';

/** Prefix of our buttons in a workspace; the kind of the press follows. */
const PREFIX = 'slipway.press.';
const BUTTONS: Readonly<Record<Press['kind'], { readonly label: string; readonly style?: 'primary' | 'danger' }>> = {
  approve: { label: 'Approve', style: 'primary' },
  reject: { label: 'Reject', style: 'danger' },
  stop: { label: 'Stop' },
};
/** Longest value of a button of ours; Slack takes 2,000. Characters. */
const MAX_VALUE = 200;

/** `null`: no button of ours. */
export function pressOf(action: string, value: string): Press | null {
  const kind = action.startsWith(PREFIX) ? action.slice(PREFIX.length) : '';
  return Object.hasOwn(BUTTONS, kind) ? { kind: kind as Press['kind'], of: value.slice(0, MAX_VALUE) } : null;
}

/**
 * The blocks of an answer with buttons.
 * @param answer.text in mrkdwn
 * @param answer.waits stands in a preformatted block, whose text Slack shows literally: it mentions no user, links
 * nowhere, and ends no quote.
 */
export function answerBlocks({
  text,
  waits,
  buttons,
}: {
  readonly text: string;
  readonly waits: string | null;
  readonly buttons: readonly Press[];
}): readonly object[] {
  return [
    { type: 'section', text: { type: 'mrkdwn', text } },
    ...(waits === null || waits === ''
      ? []
      : [
          {
            type: 'rich_text',
            elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text: waits }] }],
          },
        ]),
    {
      type: 'actions',
      elements: buttons.map(({ kind, of }) => {
        const { label, style } = BUTTONS[kind];
        const value = of === '' ? {} : { value: of };
        return {
          type: 'button',
          action_id: `${PREFIX}${kind}`,
          text: { type: 'plain_text', text: label },
          ...value,
          ...(style === undefined ? {} : { style }),
        };
      }),
    },
  ];
}
