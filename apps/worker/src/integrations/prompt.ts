import { type Intent, type Passage, promptOf, type Said, type ThreadPassage } from '@slipway/integrations';
import type { ReviewComment } from './answers/replies.queries.js';
import { NO_CONTEXT, type ThreadContext } from './thread-context.js';

/** Most of one text that an agent is given of a delivery. Characters. */
const MAX_TEXT = 30_000;
const MAX_TITLE = 120;
/** Of what else was said in the thread; the oldest gives way. Characters. */
const MAX_SAID = 40_000;

const SUBJECT: Readonly<Record<Intent['thread']['kind'], string>> = {
  issue: 'issue',
  'pull-request': 'pull request',
  'channel-thread': 'message',
  'direct-message': 'message',
  ticket: 'ticket',
  'agent-session': 'ticket',
};

/**
 * What the agent is asked: the words of the actor, who was allowed to ask, and after them the thread as quoted data.
 * The title is quoted too: its author may be anybody.
 * @param fence random for each prompt: 32 or more letters and digits.
 */
export function promptOfIntent(
  { instruction, subject, thread, review, actor, linesApart }: Intent,
  fence: string,
  context: ThreadContext = NO_CONTEXT,
): string {
  const what = SUBJECT[thread.kind];
  const isAsked = (each: ThreadContext['said'][number]): boolean => isAskedOnLine({ actor, linesApart }, each);
  const asked = [
    instruction.text.trim(),
    ...context.said.filter(isAsked).map(({ lines, passage }) => `${placeOf(lines)}: ${cut(passage.text.trim())}`),
  ]
    .filter((words) => words !== '')
    .join('\n\n');
  const authority = (author: Passage['author']): ThreadPassage['authority'] =>
    author.id === actor.id ? 'write' : (context.authorities.get(author.id) ?? 'outsider');
  const own = subject !== null && subject.id === instruction.id && subject.url === instruction.url;
  const subjectText = [thread.title.trim(), own ? '' : (subject?.text.trim() ?? '')]
    .filter((part) => part !== '')
    .join('\n\n');
  const subjectAuthor = subject?.author ?? actor;
  const at = thread.url === null ? '' : ` (${thread.url})`;
  const words = [
    asked === '' ? `Work on this ${what}.` : cut(asked),
    ...(subjectText === '' ? [] : [`The ${what} that this is about is quoted below${at}.`]),
  ];
  const about: ThreadPassage = {
    source: what,
    passage: {
      id: 'subject',
      author: subjectAuthor,
      text: cut(subjectText),
      createdAt: subject?.createdAt ?? null,
      url: thread.url,
    },
    authority: authority(subjectAuthor),
  };
  const lines: ThreadPassage[] =
    review === null
      ? []
      : [
          {
            source: `lines of ${review.path}${review.line === null ? '' : ` up to line ${review.line}`}`,
            passage: {
              id: review.commentId,
              author: subjectAuthor,
              text: cut(review.diffHunk),
              createdAt: null,
              url: null,
            },
            authority: authority(subjectAuthor),
            needed: true,
          },
        ];
  const [said, unsaid] = saidOf(
    context.said.filter((each) => !isAsked(each)),
    authority,
  );
  const incomplete = context.incomplete ?? (unsaid > 0 ? 'it is too long' : null);
  if (incomplete !== null) words.push(`Not all of the thread is quoted below: ${incomplete}.`);
  return promptOf({
    instruction: { source: 'request', passage: { ...instruction, text: words.join('\n\n') }, authority: 'write' },
    subject: subjectText === '' ? null : about,
    thread: [...lines, ...said],
    fence,
    outsiders: false,
  }).text;
}

/** Of a provider that sends a review without its line comments. */
function isAskedOnLine(
  { actor, linesApart }: { actor: Intent['actor']; linesApart?: true | undefined },
  { lines, passage }: Said,
): boolean {
  return linesApart === true && lines !== null && passage.author.id === actor.id;
}

/** Line comments that are part of what is asked for: each is answered below itself. */
export function reviewCommentsOf(intent: Intent, { said }: ThreadContext): ReviewComment[] {
  const { review } = intent;
  const own = review === null ? [] : [{ id: review.commentId, threadOf: review.inReplyTo ?? review.commentId }];
  return [
    ...own,
    ...said.filter((each) => isAskedOnLine(intent, each)).map(({ passage: { id } }) => ({ id, threadOf: id })),
  ];
}

function placeOf(lines: ThreadContext['said'][number]['lines']): string {
  return lines === null ? '' : `On ${lines.path}${lines.line === null ? '' : `, line ${lines.line}`}`;
}

/** The newest that fit, oldest first, and how many do not. */
function saidOf(
  said: ThreadContext['said'],
  authorityOf: (author: Passage['author']) => ThreadPassage['authority'],
): readonly [kept: readonly ThreadPassage[], left: number] {
  const kept: ThreadPassage[] = [];
  let room = MAX_SAID;
  for (const { passage, lines } of said.toReversed()) {
    const text = cut(passage.text);
    room -= text.length;
    if (room < 0) break;
    kept.unshift({
      source:
        lines === null ? 'comment' : `comment on ${lines.path}${lines.line === null ? '' : `, line ${lines.line}`}`,
      passage: { ...passage, text },
      authority: authorityOf(passage.author),
    });
  }
  return [kept, said.length - kept.length];
}

export function titleOfIntent({ thread, instruction }: Intent): string {
  const line = (thread.title.trim() || instruction.text.trim().split('\n', 1)[0] || 'Conversation').replaceAll(
    '\u0000',
    '',
  );
  return (line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE - 1)}…`).toWellFormed();
}

const cut = (text: string): string =>
  text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT).toWellFormed()}\n[cut]`;
