import type { ChecksSummary, FixStop, PullRequest, PullRequestCheck } from '@slipway/contracts/repositories';
import { CREDENTIAL_KINDS } from '@slipway/db/conversations';
import type { PoolClient } from '@slipway/db/sql';
import type { StoredConnection } from '../deliveries/deliveries.queries.js';
import { repositoryAt } from './repository-at.js';

/** Who asked. */
export interface Asker {
  readonly kind: string;
  readonly id: string;
  readonly label: string;
}

/** What is to be published, as it was asked for last. */
export interface RequestedPublish {
  readonly title?: string | undefined;
  readonly body?: string | undefined;
  readonly base?: string | undefined;
  readonly draft: boolean;
  readonly allowProtectedPaths: boolean;
  /** What stood at the protected paths when they were allowed; not given: whatever stands there. */
  readonly protectedChanges?: string | undefined;
  readonly by: Asker;
  /** Address of the conversation's page; `null`: not known here. */
  readonly page: string | null;
  readonly at: string;
  /** The message of a thread after which it is published by itself. */
  readonly message?: string;
}

export interface RequestedMerge {
  readonly sha: string;
  readonly by: Asker;
  readonly at: string;
}

/** What the agent is to be asked to mend, by a message whose id is chosen: so it is sent once. */
export interface RequestedFix {
  readonly what: 'checks' | 'conflicts';
  /** Ids of checks; `null`: all that have failed. */
  readonly checks: readonly string[] | null;
  readonly message: string;
  readonly automatic: boolean;
  readonly by: Asker;
  readonly at: string;
}

/** The last message of the kind that was sent. */
export interface SentFix extends Pick<RequestedFix, 'what' | 'message' | 'automatic' | 'by' | 'at'> {
  /** The head that it is about. */
  readonly sha: string;
}

export interface PullRequestRow {
  readonly id: string;
  readonly orgId: string;
  readonly conversationId: string;
  readonly connectionId: string | null;
  readonly provider: string;
  readonly host: string;
  readonly repository: string;
  readonly number: number | null;
  readonly url: string | null;
  readonly title: string;
  readonly branch: string | null;
  readonly base: string | null;
  readonly headSha: string | null;
  /** Where our last push left the branch; others may have pushed since. */
  readonly pushedSha: string | null;
  readonly pushingSha: string | null;
  readonly content: string | null;
  readonly state: PullRequest['state'];
  readonly draft: boolean;
  readonly checks: ChecksSummary;
  readonly checkList: readonly PullRequestCheck[];
  readonly review: PullRequest['review'];
  readonly conflicts: boolean | null;
  readonly wanted: RequestedPublish;
  readonly wantedVersion: number;
  readonly doneVersion: number;
  readonly publish: PullRequest['publish'];
  readonly mergeWanted: RequestedMerge | null;
  readonly merge: PullRequest['merge'];
  readonly problem: {
    readonly code: string;
    readonly detail: string;
    readonly at: string;
    readonly protectedChanges?: string;
  } | null;
  readonly fixWanted: RequestedFix | null;
  readonly fix: SentFix | null;
  /** Rounds on failed checks that were made by themselves. */
  readonly fixRounds: number;
  readonly fixStopped: FixStop | null;
  readonly told: unknown;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly publishedAt: Date | null;
  readonly refreshedAt: Date | null;
}

const COLUMNS = `id, org_id AS "orgId", conversation_id AS "conversationId", connection_id AS "connectionId", provider, host, repository, number, url, title, branch, base,
  head_sha AS "headSha", pushed_sha AS "pushedSha", pushing_sha AS "pushingSha", content, state, draft, checks, check_list AS "checkList", review, conflicts, wanted, wanted_version AS "wantedVersion",
  done_version AS "doneVersion", publish, merge_wanted AS "mergeWanted", merge, problem, fix_wanted AS "fixWanted", fix, fix_rounds AS "fixRounds", fix_stopped AS "fixStopped", told, created_at AS "createdAt", updated_at AS "updatedAt",
  published_at AS "publishedAt", refreshed_at AS "refreshedAt"`;

export async function findPullRequest(client: PoolClient, orgId: string, id: string): Promise<PullRequestRow | null> {
  const { rows } = await client.query<PullRequestRow>({
    name: 'find-pull-request',
    text: `SELECT ${COLUMNS} FROM app.pull_request WHERE org_id = $1 AND id = $2`,
    values: [orgId, id],
  });
  return rows[0] ?? null;
}

export async function listPullRequests(
  client: PoolClient,
  orgId: string,
  conversationId: string,
): Promise<PullRequestRow[]> {
  const { rows } = await client.query<PullRequestRow>({
    name: 'list-pull-requests',
    text: `SELECT ${COLUMNS} FROM app.pull_request WHERE org_id = $1 AND conversation_id = $2 ORDER BY created_at, id`,
    values: [orgId, conversationId],
  });
  return rows;
}

/** A connection that has an access token, and what it calls the repository. */
export interface RepositoryPlace {
  readonly connection: StoredConnection;
  readonly repository: string;
}

/** Connections whose token may reach the repository at `url`; those that work come first. */
export async function findRepositoryPlaces(client: PoolClient, orgId: string, url: string): Promise<RepositoryPlace[]> {
  const { rows } = await client.query<StoredConnection>({
    name: 'find-repository-places',
    text: `SELECT c.id, c.provider, c.host, c.account, c.state, c.own, c.settings FROM app.integration_connection c
           WHERE c.org_id = $1 AND c.state <> 'disabled' AND EXISTS (SELECT 1 FROM app.integration_secret k WHERE k.connection_id = c.id AND k.kind = ANY ($2))
           ORDER BY c.state = 'needs-attention', c.created_at, c.id`,
    values: [orgId, CREDENTIAL_KINDS],
  });
  return rows.flatMap((connection) => {
    const repository = repositoryAt(url, connection);
    return repository === null ? [] : [{ connection, repository }];
  });
}

/** Wants a publish: makes the one row of the conversation and repository, or has it published once more. */
export async function requestPublish(
  client: PoolClient,
  orgId: string,
  made: {
    readonly id: string;
    readonly conversationId: string;
    readonly place: RepositoryPlace;
    readonly wanted: RequestedPublish;
  },
): Promise<PullRequestRow> {
  const { connection, repository } = made.place;
  const { rows } = await client.query<PullRequestRow>({
    name: 'request-publish',
    text: `INSERT INTO app.pull_request (id, org_id, conversation_id, connection_id, provider, host, repository, title, draft, wanted) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb)
           ON CONFLICT (conversation_id, host, repository) DO UPDATE SET connection_id = excluded.connection_id, wanted = excluded.wanted,
             wanted_version = app.pull_request.wanted_version + 1, publish = 'queued', problem = NULL, updated_at = now()
           RETURNING ${COLUMNS}`,
    values: [
      made.id,
      orgId,
      made.conversationId,
      connection.id,
      connection.provider,
      connection.host,
      repository,
      made.wanted.title ?? '',
      made.wanted.draft,
      JSON.stringify(made.wanted),
    ],
  });
  return rows[0] as PullRequestRow;
}

export async function requestMerge(
  client: PoolClient,
  orgId: string,
  id: string,
  merge: RequestedMerge,
): Promise<PullRequestRow | null> {
  const { rows } = await client.query<PullRequestRow>({
    name: 'request-merge',
    text: `UPDATE app.pull_request SET merge_wanted = $3::jsonb, merge = 'queued', problem = NULL, updated_at = now() WHERE org_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
    values: [orgId, id, JSON.stringify(merge)],
  });
  return rows[0] ?? null;
}

/** No-op while another is on its way. */
export async function requestFix(
  client: PoolClient,
  orgId: string,
  id: string,
  fix: RequestedFix,
): Promise<PullRequestRow | null> {
  const { rows } = await client.query<PullRequestRow>({
    name: 'request-fix',
    text: `UPDATE app.pull_request SET fix_wanted = coalesce(fix_wanted, $3::jsonb), fix_stopped = NULL, updated_at = now() WHERE org_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
    values: [orgId, id, JSON.stringify(fix)],
  });
  return rows[0] ?? null;
}
