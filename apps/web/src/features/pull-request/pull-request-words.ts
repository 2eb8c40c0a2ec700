import type { ChecksSummary, PullRequest } from '@slipway/contracts/repositories';
import type { Translate } from '../../messages/translate.ts';

interface Word {
  readonly label: string;
  readonly tone: 'ok' | 'warn' | 'bad' | 'neutral' | 'accent';
}

/** Where a pull request stands, in one word. */
export function stateWord(
  t: Translate,
  { state, draft, publish }: Pick<PullRequest, 'state' | 'draft' | 'publish'>,
): Word {
  if (state === 'merged') return { label: t('pullRequest.merged'), tone: 'accent' };
  if (state === 'closed') return { label: t('pullRequest.closed'), tone: 'neutral' };
  if (state === 'open')
    return draft ? { label: t('pullRequest.draft'), tone: 'neutral' } : { label: t('common.open'), tone: 'ok' };
  if (publish === 'failed') return { label: t('pullRequest.notPublished'), tone: 'bad' };
  return publish === 'done'
    ? { label: t('pullRequest.branchPushed'), tone: 'neutral' }
    : { label: t('pullRequest.publishing'), tone: 'accent' };
}

/** Checks of the head commit; `null` where it has none. */
export function checksWord(t: Translate, { state, pending, failed, passed }: ChecksSummary): Word | null {
  const all = pending + failed + passed;
  switch (state) {
    case 'none':
      return null;
    case 'failure':
      return { label: t('pullRequest.ofFailed', { failed, all }), tone: 'bad' };
    case 'pending':
      return { label: t('pullRequest.ofChecksDone', { passed, all }), tone: 'warn' };
    default:
      return { label: t('pullRequest.allChecksPassed', { all }), tone: 'ok' };
  }
}

/** What reviewers said last; `null` where nobody has said anything. */
export function reviewWord(t: Translate, { review }: Pick<PullRequest, 'review'>): Word | null {
  const words: Readonly<Record<PullRequest['review'], Word | null>> = {
    none: null,
    commented: { label: t('pullRequest.commented'), tone: 'neutral' },
    approved: { label: t('pullRequest.approved'), tone: 'ok' },
    'changes-requested': { label: t('pullRequest.changesRequested'), tone: 'warn' },
  };
  return words[review];
}

/** What the card is waiting for; `null`: nothing is under way. */
export function underWay(
  t: Translate,
  { publish, merge, problem, number }: Pick<PullRequest, 'publish' | 'merge' | 'problem' | 'number'>,
): string | null {
  if (merge === 'queued') return t('pullRequest.merging');
  if (publish === 'queued')
    return number === null ? t('pullRequest.pushingTheBranchAndOpening') : t('pullRequest.pushingNewCommits');
  if (publish === 'waiting')
    return t('pullRequest.waitingSlipwayRetriesAutomatically', {
      reason: problem?.title.toLowerCase() ?? t('pullRequest.theGitHostDoesNot'),
    });
  return null;
}

/** What the agent was asked to mend, and why nobody asks it by itself any more; `null`: nothing to say. */
export function fixWord(
  t: Translate,
  { fix, fixRounds, fixStopped, checks, conflicts, state }: PullRequest,
): { readonly text: string; readonly tone: 'warn' | 'neutral' } | null {
  if (state !== 'open') return null;
  if (fix?.state === 'queued')
    return {
      text: fix.what === 'checks' ? t('pullRequest.gettingTheLogForThe') : t('pullRequest.askingTheAgentToResolve'),
      tone: 'neutral',
    };
  const red = checks.state === 'failure';
  if (fixStopped !== null && red)
    return { text: t('pullRequest.slipwayHasStoppedFixingChecks', { text: fixStopped.text }), tone: 'warn' };
  if (fix?.what === 'conflicts' && conflicts === true)
    return { text: t('pullRequest.theAgentWasAskedTo'), tone: 'neutral' };
  if (fix?.what !== 'checks' || !red) return null;
  return {
    text: fix.automatic
      ? t('pullRequest.slipwayAskedTheAgentTo', { fixRounds })
      : t('pullRequest.theAgentWasAskedToFix'),
    tone: 'neutral',
  };
}

/** Why it cannot be merged from here; `null`: it can be asked for. */
export function mergeObstacle(
  t: Translate,
  { state, draft, conflicts, publish, merge, headSha }: PullRequest,
): string | null {
  if (state !== 'open' || headSha === null) return t('pullRequest.onlyAnOpenPullRequest');
  if (draft) return t('pullRequest.thisIsADraftMark');
  if (conflicts === true) return t('pullRequest.itConflictsWithItsBase');
  return publish === 'queued' || publish === 'waiting' || merge === 'queued'
    ? t('pullRequest.anotherOperationIsInProgress')
    : null;
}

/** Of the header: short, with the number. */
export function chipText(
  t: Translate,
  pull: Pick<PullRequest, 'number' | 'state' | 'draft' | 'publish' | 'checks'>,
): string {
  const checks = pull.state === 'open' ? chipChecks(t, pull.checks) : '';
  return [
    pull.number === null ? t('pullRequest.pullRequest') : `#${pull.number}`,
    stateWord(t, pull).label.toLowerCase(),
    checks,
  ]
    .filter(Boolean)
    .join(' · ');
}

function chipChecks(t: Translate, { state, failed, passed, pending }: ChecksSummary): string {
  if (state === 'none') return '';
  return failed > 0
    ? t('pullRequest.failed', { failed })
    : t('pullRequest.checksSoFar', { passed, all: passed + pending });
}
