import type { ErrorCode } from '@slipway/contracts/errors';
import { SlipwayError } from '@slipway/errors';
import { progressOf } from './workspace-script.js';

/** Nothing at the address takes connections, or the name has no address: another try soon ends as this one. */
export class HostUnreachable extends SlipwayError {}

const NO_CONNECTION =
  /Could not resolve host|Failed to connect|Connection refused|Couldn't connect|Could not connect|No route to host|Network is unreachable/i;

const RULES: ReadonlyArray<{
  pattern: RegExp;
  code: ErrorCode;
  sentence: (repository: string, branch: string | null) => string;
}> = [
  {
    pattern: /No space left on device|Disk quota exceeded/i,
    code: 'sandbox.disk-full',
    sentence: (repository) => `There was no room in the sandbox for ${repository}.`,
  },
  {
    pattern: /what answers there is no git server/,
    code: 'repository.not-found',
    sentence: (repository) => `There is no git repository at ${repository}.`,
  },
  {
    pattern: /Remote branch .* not found|couldn't find remote ref|Could not find remote branch/i,
    code: 'repository.branch-not-found',
    sentence: (repository, branch) => `${repository} has no branch "${branch ?? ''}".`,
  },
  {
    pattern:
      /could not read (Username|Password)|Authentication failed|terminal prompts disabled|error: 40[13]\b|HTTP Basic: Access denied/i,
    code: 'repository.private',
    sentence: (repository) => `${repository} asks for a password: it is private, or there is no such repository.`,
  },
  {
    pattern:
      /repository .* not found|error: 404\b|not found: did you run|is this a git repository|does not appear to be a git repository|not valid:/i,
    code: 'repository.not-found',
    sentence: (repository) => `There is no git repository at ${repository}.`,
  },
  {
    pattern:
      /Could not resolve host|Failed to connect|Connection (refused|reset|timed out)|Couldn't connect|timed out|error: 5\d\d\b|error: 429\b|early EOF|hung up unexpectedly|unexpected disconnect|Empty reply|SSL|gnutls|RPC failed|Operation too slow|transfer closed/i,
    code: 'repository.unreachable',
    sentence: (repository) => `The git server of ${repository} did not answer as it should.`,
  },
];

/** Text for the user when git could not make the workspace: a code, a sentence, and git's own last words. */
export function gitFailure(plan: { repository: string | null; branch: string | null }, stderr: string): SlipwayError {
  const repository = plan.repository ?? 'the empty workspace';
  const rule = RULES.find(({ pattern }) => pattern.test(stderr));
  const words = stderr
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^(fatal|error|remote):/.test(line) && progressOf(line) === null)
    .slice(-3)
    .join(' ')
    .slice(0, 1_000);
  const said = words === '' ? '' : ` git says: ${words}`;
  if (rule !== undefined) {
    const detail = `${rule.sentence(repository, plan.branch)}${said}`;
    const isAway = rule.code === 'repository.unreachable' && NO_CONNECTION.test(stderr);
    return new (isAway ? HostUnreachable : SlipwayError)(rule.code, detail);
  }
  if (plan.repository === null)
    return new SlipwayError('sandbox.start-failed', `The workspace could not be made.${said}`, {
      internal: stderr.slice(-2_000),
    });
  return new SlipwayError('repository.not-found', `${repository} could not be read.${said}`, {
    internal: stderr.slice(-2_000),
  });
}

/**
 * One that came too slowly is not tried again: each further try may take as long, and most likely ends as this one. A
 * server that said nothing may be back soon.
 * @param progress how far it was; `null`: nothing came.
 */
export function cloneTimeout(repository: string | null, seconds: number, progress: string | null): SlipwayError {
  if (repository === null)
    return new SlipwayError('sandbox.start-failed', `The workspace could not be made within ${seconds} s.`);
  if (progress === null)
    return new SlipwayError(
      'repository.unreachable',
      `${repository} was not there within ${seconds} s: its git server says nothing.`,
    );
  return new SlipwayError(
    'repository.timeout',
    `${repository} was not there within ${seconds} s, and what had come of it was thrown away. git says: ${progress}`,
  );
}
