import type {
  ConversationPullRequest,
  DeskConversation,
  DeskDecision,
  DeskMark,
  ReadMark,
} from '@slipway/contracts/conversations';
import { DECISION_SECONDS, scoreOf, secondsToAnswer, secondsToApprove } from './cost.js';

/** What the decisions of a conversation follow from: the same on every screen and on the server. */
export type DeskFacts = Pick<
  DeskConversation,
  | 'id'
  | 'status'
  | 'executionStatus'
  | 'sandboxStatus'
  | 'stopReason'
  | 'pullRequest'
  | 'approval'
  | 'egress'
  | 'lastWord'
  | 'saidSeq'
  | 'since'
  | 'people'
>;

/** Of one user. */
export type DeskMarks = ReadMark & DeskMark;

export const NO_MARKS: DeskMarks = { seq: 0, treeHash: null, doneKey: null, snoozedUntil: null, muted: false };

type Asked = Pick<DeskDecision, 'kind' | 'key' | 'seconds'>;

/**
 * What waits for a person in a conversation, the dearest first; none where it goes on by itself, or is done.
 * @param now milliseconds since 1970; only the score depends on it.
 */
export function decisionsOf(facts: DeskFacts, now: number): DeskDecision[] {
  return [ofAgent(facts), ofSandbox(facts), ofPullRequest(facts)]
    .filter((asked) => asked !== null)
    .map((asked) => ({ ...asked, score: scoreOf(facts, asked.seconds, now) }))
    .sort((a, b) => b.score - a.score || a.kind.localeCompare(b.kind));
}

/** The agent waits for leave, for an answer, or for whoever takes out of its way what halted it. */
function ofAgent(facts: DeskFacts): Asked | null {
  const { status, stopReason, lastWord } = facts;
  switch (status) {
    case 'waiting':
      if (facts.executionStatus === 'waiting_for_confirmation') return approve(facts);
      if (stopReason?.code != null) return unblock(`halt:${stopReason.code}:${facts.saidSeq}`);
      return lastWord === null ? null : answer(facts);
    case 'failed':
      return unblock(`failed:${stopReason?.code ?? ''}:${facts.saidSeq}`);
    case 'paused':
    case 'stopped':
      // Who stopped it knows why; a limit or a failure is for whoever can lift it.
      return stopReason?.code != null && stopReason.by === null
        ? unblock(`halt:${stopReason.code}:${facts.saidSeq}`)
        : null;
    case 'finished':
      return asksBack(facts) ? answer(facts) : null;
    case 'starting':
    case 'working':
      return null;
    default:
      return status satisfies never;
  }
}

/** A host that the sandbox may not reach yet: the agent may go on meanwhile, and fail for it. */
function ofSandbox({ egress }: DeskFacts): Asked | null {
  // A server of the version before does not know of it.
  if (egress == null) return null;
  const { known, first } = DECISION_SECONDS.allow;
  return { kind: 'allow', key: `allow:${egress.requestId}`, seconds: egress.firstTime ? first : known };
}

/** A pull request that nobody works on: a red one is in somebody's way, a green one that is approved can be merged. */
function ofPullRequest({ status, pullRequest }: DeskFacts): Asked | null {
  if (pullRequest === null || pullRequest.state !== 'open' || status === 'working' || status === 'starting')
    return null;
  const { number, checks, review, draft } = pullRequest;
  const key = `${number ?? ''}:${checks}:${review}:${draft ? 'draft' : 'ready'}:${pullRequest.conflicts === true ? 'conflicts' : ''}`;
  if (checks === 'failure' || pullRequest.conflicts === true || review === 'changes-requested')
    return unblock(`pull-request:${key}`);
  if (checks === 'pending') return null;
  if (isMergeable(pullRequest)) return { kind: 'merge', key: `merge:${key}`, seconds: DECISION_SECONDS.merge };
  return { kind: 'review', key: `review:${key}`, seconds: DECISION_SECONDS.review };
}

function isMergeable({ review, draft }: ConversationPullRequest): boolean {
  return review === 'approved' && !draft;
}

function approve({ approval, saidSeq }: DeskFacts): Asked {
  // What waits is in the log; when it could not be found there it still waits.
  if (approval === null)
    return { kind: 'approve', key: `approve:at:${saidSeq}`, seconds: DECISION_SECONDS.approve.UNKNOWN };
  return { kind: 'approve', key: `approve:${approval.actionId}`, seconds: secondsToApprove(approval) };
}

function answer({ lastWord, saidSeq }: DeskFacts): Asked {
  return {
    kind: 'answer',
    key: `answer:${lastWord?.seq ?? saidSeq}`,
    seconds: lastWord === null ? DECISION_SECONDS.answer.base : secondsToAnswer(lastWord),
  };
}

function unblock(of: string): Asked {
  return { kind: 'unblock', key: `unblock:${of}`, seconds: DECISION_SECONDS.unblock };
}

/** Its last word, behind which comes at most the result of saying it, is a question to people. */
function asksBack({ lastWord, saidSeq }: DeskFacts): boolean {
  return lastWord !== null && lastWord.seq + 1 >= saidSeq && /[?？]["'”’)*_`\s]*$/u.test(lastWord.text);
}
