import { randomBytes } from 'node:crypto';
import { type OwnWork, promptOf } from '@slipway/integrations';

/** Of an issue. Characters; the agent gets a note that there is more. */
const MAX_TEXT = 8_000;

const WORDS: Readonly<Record<OwnWork['kind'], (work: OwnWork) => string>> = {
  'red-default-branch': ({ branch, repository }) =>
    `Checks fail on ${branch}, the default branch of ${repository}. Find out what fails, by what its CI runs, and fix it.`,
  conflicts: ({ number, repository }) =>
    `Pull request #${number} of ${repository}, whose branch this is, conflicts with its base. Merge the base into the branch, resolve the conflicts so that both sides keep what they meant, and run the tests of what you touched.`,
  'failing-checks': ({ number, repository }) =>
    `Checks of pull request #${number} of ${repository}, whose branch this is, fail. Find out what fails, by what its CI runs, and fix it.`,
  'unresolved-comments': ({ number, repository }) =>
    `Pull request #${number} of ${repository}, whose branch this is, has review comments that are not resolved. Work on what they ask for.`,
  issue: ({ number, repository }) => `Work on issue #${number} of ${repository}, which is quoted below.`,
};

/** What the agent is asked. Titles and texts are anybody's: they are quoted. */
export function suggestedPrompt(work: OwnWork): string {
  const own = { id: 'slipway', login: 'slipway', kind: 'app' as const };
  const passage = (author: typeof own, text: string) => ({ id: 'task', author, text, createdAt: null, url: work.url });
  const quoted =
    work.number === null
      ? ''
      : [work.title, work.text.slice(0, MAX_TEXT).toWellFormed(), work.text.length > MAX_TEXT ? '[cut]' : '']
          .filter((each) => each !== '')
          .join('\n\n');
  const at = work.url === null ? '' : ` (${work.url})`;
  return promptOf({
    instruction: { source: 'request', authority: 'ours', passage: passage(own, `${WORDS[work.kind](work)}${at}`) },
    subject:
      quoted === ''
        ? null
        : {
            source: work.kind === 'issue' ? 'issue' : 'pull request',
            authority: 'outsider',
            passage: passage({ ...own, login: 'its author' }, quoted),
          },
    thread: [],
    fence: randomBytes(16).toString('hex'),
    outsiders: false,
  }).text;
}
