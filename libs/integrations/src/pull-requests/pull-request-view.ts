import { ERRORS, type ErrorCode } from '@slipway/contracts/errors';
import { FIX_STOPS, type PullRequest, type PullRequestFix } from '@slipway/contracts/repositories';
import type { PullRequestRow } from './pull-requests.queries.js';

/** As people and programs see it; also what the log of the conversation says. */
export function toPullRequest(row: PullRequestRow): PullRequest {
  return {
    id: row.id,
    conversationId: row.conversationId,
    connectionId: row.connectionId,
    provider: row.provider,
    host: row.host,
    repository: row.repository,
    number: row.number,
    url: row.url,
    title: row.title,
    branch: row.branch,
    base: row.base,
    headSha: row.headSha,
    state: row.state,
    draft: row.draft,
    checks: row.checks,
    review: row.review,
    conflicts: row.conflicts,
    publish: row.publish,
    merge: row.merge,
    problem: problemOf(row),
    fix: fixOf(row),
    fixRounds: row.fixRounds,
    fixStopped: row.fixStopped === null ? null : { code: row.fixStopped, text: FIX_STOPS[row.fixStopped] },
    publishedAt: row.publishedAt?.toISOString() ?? null,
    refreshedAt: row.refreshedAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

function problemOf({ problem }: PullRequestRow): PullRequest['problem'] {
  if (problem === null) return null;
  const { title, nextStep } = ERRORS[problem.code as ErrorCode] ?? ERRORS['internal.unexpected'];
  return {
    code: problem.code,
    title,
    detail: problem.detail,
    nextStep,
    at: problem.at,
    protectedChanges: problem.protectedChanges ?? null,
  };
}

function fixOf({ fixWanted, fix }: PullRequestRow): PullRequestFix | null {
  const last = fixWanted ?? fix;
  if (last === null) return null;
  const { what, automatic, at } = last;
  return { what, state: fixWanted === null ? 'asked' : 'queued', automatic, at };
}
