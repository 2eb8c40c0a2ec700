import type { CreateEgressRule, EgressRule } from '@slipway/contracts/sandboxes';
import type { Columns, PoolClient } from '@slipway/db/sql';
import type { HostPattern } from '@slipway/net';
import type { RuleLimits } from './rule-limits.js';

type RuleRow = Columns<
  'app.egress_rule',
  | 'id'
  | 'scope'
  | 'action'
  | 'scope_value'
  | 'host'
  | 'below'
  | 'port'
  | 'once'
  | 'expires_at'
  | 'reason'
  | 'request_id'
  | 'created_by'
  | 'created_by_label'
  | 'created_at'
  | 'request_action'
  | 'methods'
  | 'paths'
  | 'foreign_credentials'
  | 'websocket',
  {
    scope: EgressRule['scope'];
    action: EgressRule['action'];
    request_action: EgressRule['action'] | null;
    methods: NonNullable<EgressRule['methods']>;
    foreign_credentials: EgressRule['foreign'];
  }
>;
const COLUMNS =
  'id, scope, scope_value, host, below, port, action, once, expires_at, reason, request_id, created_by, created_by_label, created_at, request_action, methods, paths, foreign_credentials, websocket';

export interface NewEgressRule extends Pick<CreateEgressRule, 'scope' | 'scopeValue' | 'action' | 'reason'> {
  readonly id: string;
  readonly pattern: HostPattern;
  readonly limits: RuleLimits | null;
  readonly once: boolean;
  readonly expiresAt: Date | null;
  readonly requestId: string | null;
}

/** Newest first. Those for one connection that are over are not listed. */
export async function listRules(client: PoolClient, orgId: string): Promise<EgressRule[]> {
  const { rows } = await client.query<RuleRow>(
    `SELECT ${COLUMNS} FROM app.egress_rule WHERE org_id = $1 AND NOT (once AND expires_at < now()) ORDER BY created_at DESC, id DESC LIMIT 1000`,
    [orgId],
  );
  return rows.map(ruleOf);
}

/** Without those for one conversation, which go with it. */
export async function countRules(client: PoolClient, orgId: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    "SELECT count(*)::integer AS count FROM app.egress_rule WHERE org_id = $1 AND scope <> 'conversation'",
    [orgId],
  );
  return rows[0]?.count ?? 0;
}

/** Also forgets what is over for a day: what a rule for once let through is cut by its age before. */
export async function insertRule(
  client: PoolClient,
  orgId: string,
  rule: NewEgressRule,
  by: { readonly id: string; readonly label: string },
): Promise<EgressRule> {
  await client.query("DELETE FROM app.egress_rule WHERE org_id = $1 AND expires_at < now() - interval '1 day'", [
    orgId,
  ]);
  const { pattern, limits } = rule;
  const { rows } = await client.query<RuleRow>(
    `INSERT INTO app.egress_rule (org_id, id, scope, scope_value, host, below, port, action, once, expires_at, reason, request_id, created_by, created_by_label,
       request_action, methods, paths, foreign_credentials, websocket)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) RETURNING ${COLUMNS}`,
    [
      orgId,
      rule.id,
      rule.scope,
      rule.scopeValue,
      pattern.host,
      pattern.below,
      pattern.port,
      // An app-server that does not know of limits refuses the host as a whole (migration egress_rule_requests).
      limits === null ? rule.action : 'deny',
      rule.once,
      rule.expiresAt,
      rule.reason,
      rule.requestId,
      by.id,
      by.label,
      limits === null ? null : rule.action,
      limits?.methods ?? [],
      limits?.paths ?? [],
      limits?.foreign ?? null,
      limits?.websocket ?? false,
    ],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a rule was not written');
  return ruleOf(row);
}

/** @returns the rule that was removed; `null` when there is none. */
export async function deleteRule(client: PoolClient, orgId: string, id: string): Promise<EgressRule | null> {
  const { rows } = await client.query<RuleRow>(
    `DELETE FROM app.egress_rule WHERE org_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
    [orgId, id],
  );
  return rows[0] === undefined ? null : ruleOf(rows[0]);
}

function ruleOf(row: RuleRow): EgressRule {
  return {
    id: row.id,
    scope: row.scope,
    scopeValue: row.scope_value,
    host: textOf(row),
    action: row.request_action ?? row.action,
    methods: row.methods.length === 0 ? null : row.methods,
    paths: row.paths.length === 0 ? null : row.paths,
    foreign: row.foreign_credentials,
    websocket: row.websocket,
    once: row.once,
    expiresAt: row.expires_at?.toISOString() ?? null,
    reason: row.reason,
    createdBy: { id: row.created_by, label: row.created_by_label },
    createdAt: row.created_at.toISOString(),
    requestId: row.request_id,
  };
}

/** As a pattern is written. */
export function textOf({ host, below, port }: HostPattern): string {
  const named = host.includes(':') ? `[${host}]` : host;
  return `${below ? '*.' : ''}${named}${port === null ? '' : `:${port}`}`;
}
