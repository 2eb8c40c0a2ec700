import { EGRESS_TRAFFIC_DAYS, LET_THROUGH } from '@slipway/contracts/sandboxes';
import type { PoolClient } from '@slipway/db/sql';
import type { CredentialScoped } from '@slipway/domain';
import type { HostPattern } from '@slipway/net';
import { RULE_JSON, type RuleAbout } from './conversation-rules.js';

/** Rows, rules and credentials that one trial looks at. */
export const MAX_TRIED = 20_000;
/** Refusals that a decision about the host made, and that another one would not make. */
const DECIDED = ['rule', 'asked', 'asked-too-often'];

/** What one conversation sent to one host, and whether it was let through. */
export interface TriedRow {
  readonly conversation: string;
  readonly title: string;
  readonly repository: string | null;
  readonly environment: string | null;
  readonly host: string;
  readonly port: number;
  readonly reached: boolean;
  /** The installation listed the host. */
  readonly listed: boolean;
  readonly connections: number;
  /** Of them, those that `rule` let through. */
  readonly by_rule: number;
}

/** The most connections first, one more than `MAX_TRIED`. @param about only hosts that it names; `null`: all. */
export async function triedRows(
  client: PoolClient,
  orgId: string,
  { about, rule }: { readonly about: HostPattern | null; readonly rule: string | null },
): Promise<TriedRow[]> {
  const { rows } = await client.query<TriedRow>(
    `SELECT t.conversation_id AS conversation, c.title, c.repository, c.environment, t.host, t.port, t.verdict = '${LET_THROUGH}' AS reached, t.listed,
       least(sum(t.connections), ${Number.MAX_SAFE_INTEGER})::float8 AS connections,
       least(coalesce(sum(t.connections) FILTER (WHERE t.rule = $3), 0), ${Number.MAX_SAFE_INTEGER})::float8 AS by_rule
     FROM app.egress_tally t JOIN app.conversation c ON c.org_id = $1 AND c.id = t.conversation_id
     WHERE t.org_id = $1 AND t.hour > now() - make_interval(days => $2) AND t.port <> 0
       AND (t.verdict = '${LET_THROUGH}' OR t.verdict = ANY ($4))
       AND ($5::text IS NULL OR (CASE WHEN $6 THEN right(t.host, length($5) + 1) = '.' || $5 ELSE t.host = $5 END))
     GROUP BY c.id, t.conversation_id, t.host, t.port, t.verdict = '${LET_THROUGH}', t.listed
     ORDER BY 9 DESC, t.conversation_id, t.host, t.port LIMIT ${MAX_TRIED + 1}`,
    [orgId, EGRESS_TRAFFIC_DAYS, rule, DECIDED, about?.host ?? null, about?.below ?? false],
  );
  return rows;
}

/** Every rule, of all scopes, the newest first. */
export async function allRules(client: PoolClient, orgId: string): Promise<RuleAbout[]> {
  const { rows } = await client.query<{ rule: RuleAbout }>(
    `SELECT ${RULE_JSON} AS rule FROM app.egress_rule r WHERE r.org_id = $1 ORDER BY r.created_at DESC LIMIT ${MAX_TRIED + 1}`,
    [orgId],
  );
  return rows.map(({ rule }) => rule);
}

/** Every brokered credential, with the hosts of its places as `hostKey` writes them. */
export async function credentialHosts(
  client: PoolClient,
  orgId: string,
): Promise<(CredentialScoped & { readonly hosts: readonly string[] })[]> {
  const { rows } = await client.query<CredentialScoped & { readonly hosts: readonly string[] }>(
    `SELECT id, name, scope, scope_value AS "scopeValue", hosts FROM app.credential WHERE org_id = $1 LIMIT ${MAX_TRIED}`,
    [orgId],
  );
  return rows;
}
