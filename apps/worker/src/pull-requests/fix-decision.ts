import type { ConversationStatus } from '@slipway/contracts/conversations';
import type { ConnectionSettings } from '@slipway/contracts/integrations';
import type { FixStop } from '@slipway/contracts/repositories';
import type { PullRequestRow } from '@slipway/integrations/pull-requests';

export type FixDecision =
  | { readonly kind: 'none' }
  | { readonly kind: 'ask' }
  | { readonly kind: 'stop'; readonly why: FixStop };

const NONE: FixDecision = { kind: 'none' };

/**
 * Whether the agent is asked, without a user, to fix the checks that failed. Pure. A round is asked for once for a
 * head, and at most as many over all of a pull request as the connection allows: rounds that a user requests do not
 * count.
 */
export function fixDecision(
  row: Pick<
    PullRequestRow,
    | 'state'
    | 'checks'
    | 'headSha'
    | 'pushedSha'
    | 'publish'
    | 'wanted'
    | 'fix'
    | 'fixWanted'
    | 'fixRounds'
    | 'fixStopped'
  >,
  settings: Pick<ConnectionSettings, 'fixChecks' | 'fixRounds'>,
  status: ConversationStatus,
): FixDecision {
  const { checks, headSha, fix } = row;
  if (settings.fixChecks !== 'automatic' || row.fixStopped !== null || row.fixWanted !== null) return NONE;
  if (row.state !== 'open' || status !== 'finished') return NONE;
  // All of them have ended, and on what we have pushed: commits of others are theirs to fix.
  if (checks.state !== 'failure' || checks.pending > 0 || headSha === null || headSha !== row.pushedSha) return NONE;
  const ofThisHead = fix?.sha === headSha;
  const lastIsPublished = fix !== null && row.wanted.message === fix.message;
  if (ofThisHead && lastIsPublished && row.publish === 'failed')
    return fix.automatic ? { kind: 'stop', why: 'not-published' } : NONE;
  if (ofThisHead && lastIsPublished && row.publish === 'done')
    return fix.automatic ? { kind: 'stop', why: 'unchanged' } : NONE;
  if (ofThisHead || row.publish !== 'done') return NONE;
  return row.fixRounds >= settings.fixRounds ? { kind: 'stop', why: 'rounds' } : { kind: 'ask' };
}
