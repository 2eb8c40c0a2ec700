import { randomBytes } from 'node:crypto';
import type { PullRequestCheck } from '@slipway/contracts/repositories';
import { MAX_FIXED_CHECKS } from '@slipway/contracts/repositories';
import { type CodeHost, maskedText, ProviderRefusal, promptOf, type ThreadPassage } from '@slipway/integrations';
import type { PullRequestRow, RequestedFix } from '@slipway/integrations/pull-requests';

/** Of the log of one check. Characters. */
const MAX_LOG = 16_000;

interface Logged {
  readonly check: PullRequestCheck;
  /** What the host gives of it; `null`: nothing. */
  readonly log: string | null;
  readonly cut: boolean;
}

/**
 * The message that asks the agent to mend a pull request. `null`: nothing stands against it any more. @param known
 * secrets of ours that no log may bring along.
 */
export async function fixMessage(
  row: PullRequestRow & { number: number },
  wanted: RequestedFix,
  calls: CodeHost,
  known: readonly string[],
): Promise<string | null> {
  if (wanted.what === 'conflicts')
    return row.conflicts === false || row.state !== 'open' ? null : conflictsMessage(row);
  const failed = row.checkList
    .filter(({ state, id }) => state === 'failure' && (wanted.checks === null || wanted.checks.includes(id)))
    .slice(0, MAX_FIXED_CHECKS);
  if (failed.length === 0) return null;
  const logged = await Promise.all(failed.map((check) => logOf(row, check, calls)));
  return checksMessage(row, logged, known);
}

/** An unreadable log does not block: the message says so. */
async function logOf({ repository }: PullRequestRow, check: PullRequestCheck, calls: CodeHost): Promise<Logged> {
  try {
    const log = (await calls.checkLog?.(repository, check)) ?? null;
    return { check, log: log?.text ?? null, cut: log?.cut ?? false };
  } catch (error) {
    if (!(error instanceof ProviderRefusal) || error.kind === 'credential') throw error;
    return { check, log: null, cut: false };
  }
}

export function conflictsMessage({ number, base, branch }: Pick<PullRequestRow, 'number' | 'base' | 'branch'>): string {
  return [
    `Pull request #${number} of this conversation conflicts with ${base ?? 'its base'}.`,
    `Fetch ${base ?? 'the base branch'} from origin and merge it into ${branch === null ? 'the branch' : `the work of ${branch}`} in the workspace. Resolve the conflicts so that both sides keep what they meant, and run the tests of what you touched.`,
    'Do not push: Slipway does.',
  ].join('\n\n');
}

export function checksMessage(
  { number, headSha, host }: Pick<PullRequestRow, 'number' | 'headSha' | 'host'>,
  logged: readonly Logged[],
  known: readonly string[],
): string {
  const names = logged.map(({ check }) => oneLine(check.name)).join(', ');
  const unread = logged.filter(({ log }) => log === null).map(({ check }) => oneLine(check.name));
  const words = [
    `${logged.length === 1 ? 'A check' : 'Checks'} of pull request #${number} failed on commit ${headSha?.slice(0, 12) ?? 'unknown'}: ${names}.`,
    'Find the cause, fix it in the workspace, and run what the check runs as far as you can here. Change the check itself only if it is what is wrong. Do not push: Slipway does.',
    ...(unread.length === 0 ? [] : [`${host} gives no log of ${unread.join(', ')}: what it says of itself is quoted.`]),
  ];
  const thread: ThreadPassage[] = logged.map(({ check, log, cut }) => ({
    source: `${log === null ? 'result' : 'log'} of the check ${oneLine(check.name)}`,
    authority: 'outsider',
    needed: true,
    passage: {
      id: check.id,
      author: { id: 'checks', login: host, kind: 'app' },
      createdAt: null,
      url: check.url,
      text: logText(check, log, cut, known),
    },
  }));
  const own = { id: 'slipway', login: 'slipway', kind: 'app' as const };
  return promptOf({
    instruction: {
      source: 'request',
      authority: 'ours',
      passage: { id: 'fix', author: own, text: words.join('\n\n'), createdAt: null, url: null },
    },
    subject: null,
    thread,
    fence: randomBytes(16).toString('hex'),
    outsiders: false,
  }).text;
}

function logText(
  { description, url }: PullRequestCheck,
  log: string | null,
  cut: boolean,
  known: readonly string[],
): string {
  const whole = maskedText(plain(log ?? ''), known);
  const end = whole.length > MAX_LOG ? whole.slice(-MAX_LOG).toWellFormed() : whole;
  const said = maskedText(plain(description), known).trim();
  return [
    said,
    url === null || log !== null ? '' : `Details: ${maskedText(url, known)}`,
    cut || end.length < whole.length ? '[the beginning is left out]' : '',
    end.trim(),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** Without colours of a terminal, and without what no text holds. */
const plain = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal control sequences
    .replaceAll(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '')
    .replaceAll(/\r\n?/g, '\n')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: all but tab and newline
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
    .toWellFormed();

const oneLine = (name: string): string =>
  name
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, 100)
    .toWellFormed();
