import type { ConversationPullRequest, DeskApproval, DeskWord, SandboxStatus } from '@slipway/contracts/conversations';

/**
 * What waiting costs, and how long a decision takes. Every number of the order of the Desk stands here.
 *
 * score = (PERSON × people + DOLLAR × sandbox US dollars an hour + CHECKS if a green pull request is held
 *          + MINUTE × minutes waited) ÷ seconds that the decision takes
 */
export const DESK_WEIGHTS = {
  /** For each user whose work waits. */
  person: 60,
  /** For each US dollar an hour that is spent meanwhile. */
  dollar: 300,
  /** For a pull request whose checks have passed: the longer it waits, the likelier they are to run again. */
  checks: 30,
  /** For each minute that it has waited. */
  minute: 1,
} as const;

/** Longest wait that counts. Minutes: a week; what is older is not dearer still. */
const MAX_MINUTES = 7 * 24 * 60;
/** Of a sandbox that runs. US dollars an hour; a paused one costs next to nothing. */
export const SANDBOX_USD_PER_HOUR = 0.1;

/** Seconds that a decision takes somebody who has its row before them. */
export const DECISION_SECONDS = {
  /** Of one action, by its risk, and for each further one. */
  approve: { LOW: 6, MEDIUM: 12, UNKNOWN: 12, HIGH: 25, further: 4 },
  /** To allow or refuse a host, and one that nobody has allowed before. */
  allow: { known: 10, first: 20 },
  /** To answer, and for each character that is read first. */
  answer: { base: 20, character: 0.04 },
  review: 180,
  unblock: 60,
  merge: 15,
} as const;

/** Longest estimate of reading and answering. Seconds. */
const MAX_SECONDS = 300;

export function secondsToApprove({ risk, actions }: DeskApproval): number {
  const { further, ...byRisk } = DECISION_SECONDS.approve;
  return Math.min(MAX_SECONDS, byRisk[risk] + further * (actions - 1));
}

export function secondsToAnswer({ text }: DeskWord): number {
  const { base, character } = DECISION_SECONDS.answer;
  return Math.min(MAX_SECONDS, base + character * text.length);
}

/** What is known of a conversation that waits. */
export interface Waiting {
  readonly people: number;
  readonly sandboxStatus: SandboxStatus;
  readonly pullRequest: ConversationPullRequest | null;
  /** ISO time. */
  readonly since: string;
}

/** @param now milliseconds since 1970; a time in the future has waited for nothing. */
export function scoreOf({ people, sandboxStatus, pullRequest, since }: Waiting, seconds: number, now: number): number {
  const minutes = Math.min(MAX_MINUTES, Math.max(0, (now - Date.parse(since)) / 60_000));
  const dollars = sandboxStatus === 'RUNNING' ? SANDBOX_USD_PER_HOUR : 0;
  const held = pullRequest?.state === 'open' && pullRequest.checks === 'success' ? 1 : 0;
  return (
    (DESK_WEIGHTS.person * people +
      DESK_WEIGHTS.dollar * dollars +
      DESK_WEIGHTS.checks * held +
      DESK_WEIGHTS.minute * minutes) /
    seconds
  );
}
