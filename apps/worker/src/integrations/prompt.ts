import { type Intent, type Passage, promptOf, type ThreadPassage } from '@slipway/integrations';

/** Most of one text that an agent is given of a delivery. Characters. */
const MAX_TEXT = 30_000;
const MAX_TITLE = 120;

const SUBJECT: Readonly<Record<Intent['thread']['kind'], string>> = {
  issue: 'issue',
  'pull-request': 'pull request',
  'channel-thread': 'message',
  'direct-message': 'message',
  ticket: 'ticket',
  'agent-session': 'ticket',
};

/**
 * What the agent is asked: the words of the actor, who was allowed to ask, and after them the thread as quoted data. The title is quoted too: its author may be anybody.
 * @param fence random for each prompt: 32 or more letters and digits.
 */
export function promptOfIntent({ instruction, subject, thread, review, actor }: Intent, fence: string): string {
  const what = SUBJECT[thread.kind];
  const asked = instruction.text.trim();
  const authority = (author: Passage['author']): ThreadPassage['authority'] => (author.id === actor.id ? 'write' : 'outsider');
  const own = subject !== null && subject.id === instruction.id && subject.url === instruction.url;
  const subjectText = [thread.title.trim(), own ? '' : (subject?.text.trim() ?? '')].filter((part) => part !== '').join('\n\n');
  const subjectAuthor = subject?.author ?? actor;
  const at = thread.url === null ? '' : ` (${thread.url})`;
  const words = [asked === '' ? `Work on this ${what}.` : cut(asked), ...(subjectText === '' ? [] : [`The ${what} that this is about is quoted below${at}.`])];
  const about: ThreadPassage = {
    source: what,
    passage: { id: 'subject', author: subjectAuthor, text: cut(subjectText), createdAt: subject?.createdAt ?? null, url: thread.url },
    authority: authority(subjectAuthor),
  };
  const lines: ThreadPassage[] =
    review === null
      ? []
      : [
          {
            source: `lines of ${review.path}${review.line === null ? '' : ` up to line ${review.line}`}`,
            passage: { id: review.commentId, author: subjectAuthor, text: cut(review.diffHunk), createdAt: null, url: null },
            authority: authority(subjectAuthor),
          },
        ];
  return promptOf({
    instruction: { source: 'request', passage: { ...instruction, text: words.join('\n\n') }, authority: 'write' },
    thread: [...(subjectText === '' ? [] : [about]), ...lines],
    fence,
    outsiders: true,
  }).text;
}

export function titleOfIntent({ thread, instruction }: Intent): string {
  const line = (thread.title.trim() || instruction.text.trim().split('\n', 1)[0] || 'Conversation').replaceAll('\u0000', '');
  return (line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE - 1)}…`).toWellFormed();
}

const cut = (text: string): string => (text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT).toWellFormed()}\n[cut]`);
