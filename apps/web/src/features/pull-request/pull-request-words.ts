import type { ChecksSummary, PullRequest } from '@slipway/contracts';

interface Word {
  readonly label: string;
  readonly tone: 'ok' | 'warn' | 'bad' | 'neutral' | 'accent';
}

/** Where a pull request stands, in one word. */
export function stateWord({ state, draft, publish }: Pick<PullRequest, 'state' | 'draft' | 'publish'>): Word {
  if (state === 'merged') return { label: 'Merged', tone: 'accent' };
  if (state === 'closed') return { label: 'Closed', tone: 'neutral' };
  if (state === 'open') return draft ? { label: 'Draft', tone: 'neutral' } : { label: 'Open', tone: 'ok' };
  if (publish === 'failed') return { label: 'Not published', tone: 'bad' };
  return publish === 'done' ? { label: 'Branch pushed', tone: 'neutral' } : { label: 'Publishing', tone: 'accent' };
}

/** Checks of the head commit; `null` where it has none. */
export function checksWord({ state, pending, failed, passed }: ChecksSummary): Word | null {
  const all = pending + failed + passed;
  switch (state) {
    case 'none':
      return null;
    case 'failure':
      return { label: `${failed} of ${all} ${all === 1 ? 'check' : 'checks'} failed`, tone: 'bad' };
    case 'pending':
      return { label: `${passed} of ${all} checks done`, tone: 'warn' };
    default:
      return { label: all <= 1 ? 'The check passed' : `All ${all} checks passed`, tone: 'ok' };
  }
}

/** What reviewers said last; `null` where nobody has said anything. */
export function reviewWord({ review }: Pick<PullRequest, 'review'>): Word | null {
  const words: Readonly<Record<PullRequest['review'], Word | null>> = {
    none: null,
    commented: { label: 'Commented', tone: 'neutral' },
    approved: { label: 'Approved', tone: 'ok' },
    'changes-requested': { label: 'Changes requested', tone: 'warn' },
  };
  return words[review];
}

/** What the card is waiting for; `null`: nothing is under way. */
export function underWay({ publish, merge, problem, number }: Pick<PullRequest, 'publish' | 'merge' | 'problem' | 'number'>): string | null {
  if (merge === 'queued') return 'Being merged…';
  if (publish === 'queued') return number === null ? 'Pushing the branch and opening the pull request…' : 'Pushing what is new…';
  if (publish === 'waiting') return `Waits: ${problem?.title.toLowerCase() ?? 'the git host does not answer'}. It is tried again by itself.`;
  return null;
}

/** What the agent was asked to mend, and why nobody asks it by itself any more; `null`: nothing to say. */
export function fixWord({
  fix,
  fixRounds,
  fixStopped,
  checks,
  conflicts,
  state,
}: PullRequest): { readonly text: string; readonly tone: 'warn' | 'neutral' } | null {
  if (state !== 'open') return null;
  if (fix?.state === 'queued')
    return { text: fix.what === 'checks' ? 'Getting the log for the agent…' : 'Asking the agent to resolve the conflicts…', tone: 'neutral' };
  const red = checks.state === 'failure';
  if (fixStopped !== null && red) return { text: `Slipway has stopped fixing checks by itself. ${fixStopped.text}`, tone: 'warn' };
  if (fix?.what === 'conflicts' && conflicts === true) return { text: 'The agent was asked to resolve the conflicts.', tone: 'neutral' };
  if (fix?.what !== 'checks' || !red) return null;
  return { text: fix.automatic ? `Slipway has asked the agent to fix it, round ${fixRounds}.` : 'The agent was asked to fix it.', tone: 'neutral' };
}

/** Why it cannot be merged from here; `null`: it can be asked for. */
export function mergeObstacle({ state, draft, conflicts, publish, merge, headSha }: PullRequest): string | null {
  if (state !== 'open' || headSha === null) return 'Only an open pull request can be merged.';
  if (draft) return 'It is a draft: mark it ready for review at the git host first.';
  if (conflicts === true) return 'It conflicts with its base: have the agent bring the branch up to date.';
  return publish === 'queued' || publish === 'waiting' || merge === 'queued' ? 'Something is under way.' : null;
}

/** Of the header: short, with the number. */
export function chipText(pull: Pick<PullRequest, 'number' | 'state' | 'draft' | 'publish' | 'checks'>): string {
  const checks = pull.state === 'open' ? chipChecks(pull.checks) : '';
  return [pull.number === null ? 'Pull request' : `#${pull.number}`, stateWord(pull).label.toLowerCase(), checks].filter(Boolean).join(' · ');
}

function chipChecks({ state, failed, passed, pending }: ChecksSummary): string {
  if (state === 'none') return '';
  return failed > 0 ? `${failed} failed` : `${passed}/${passed + pending} checks`;
}
