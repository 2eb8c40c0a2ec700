import type { OpenedRule } from '@slipway/contracts/credentials';
import { repositoryKey } from '@slipway/contracts/secrets';
import type { PoolClient } from '@slipway/db/sql';
import type { EgressRuleOf } from '@slipway/net';

/** A rule about a host, of any scope. */
export interface RuleAbout extends OpenedRule {
  readonly scopeValue: string | null;
  /** Of a rule for once: the sandbox that it is for; `null`: whichever works for the conversation. */
  readonly claim: string | null;
}

/** What a conversation works on. */
export interface WorksOn {
  readonly repository: string | null;
  readonly environment: string | null;
}

/** A `RuleAbout` as JSON, of `app.egress_rule r`. */
export const RULE_JSON = `jsonb_build_object('id', r.id, 'scope', r.scope, 'scopeValue', r.scope_value, 'host', r.host, 'below', r.below, 'port', r.port,
  'action', coalesce(r.request_action, r.action), 'once', r.once,
  'claim', CASE WHEN r.once THEN (SELECT q.claim_id FROM app.egress_request q WHERE q.org_id = r.org_id AND q.id = r.request_id) END, 'endsAt', floor(extract(epoch FROM r.expires_at) * 1000),
  'limits', CASE WHEN r.request_action IS NOT NULL THEN jsonb_build_object(
    'methods', CASE WHEN r.methods <> '{}' THEN to_jsonb(r.methods) END, 'paths', CASE WHEN r.paths <> '{}' THEN to_jsonb(r.paths) END,
    'foreign', coalesce(r.foreign_credentials, 'refuse'), 'websocket', r.websocket) END)`;

/**
 * Those of a conversation, and of none where nobody knows for which one a sandbox works: the organization's alone. A
 * rule for once is of the sandbox that asked, and not of the one that replaces it.
 * @param works `null`: there is no such conversation. @param sandbox `claim`: absent for none in particular.
 */
export function rulesOf(
  rules: readonly RuleAbout[],
  works: WorksOn | null,
  { conversation, claim }: { readonly conversation: string | null; readonly claim?: string },
): OpenedRule[] {
  const values = {
    organization: null,
    repository: works?.repository == null ? undefined : keyOf(works.repository),
    environment: works?.environment ?? undefined,
    conversation: works === null ? undefined : conversation,
  };
  return rules.flatMap(({ scopeValue, claim: only, ...rule }) =>
    scopeValue === values[rule.scope] && (only === null || claim === undefined || only === claim) ? [rule] : [],
  );
}

/** As rules are decided by. */
export const decidable = ({ host, below, port, ...rule }: OpenedRule): EgressRuleOf => ({
  ...rule,
  pattern: { host, below, port },
});

/** Rules of every scope about a host, and the organization's settings. @param names the host, and those above it. */
export async function rulesAbout(
  client: PoolClient,
  org: string,
  names: readonly string[],
): Promise<{ readonly rules: readonly RuleAbout[]; readonly settings: unknown }> {
  const { rows } = await client.query<{ rules: RuleAbout[] | null; settings: unknown }>({
    name: 'egress-rules-about',
    text: `SELECT o.settings, (SELECT jsonb_agg(${RULE_JSON}) FROM app.egress_rule r WHERE r.org_id = o.id AND r.host = ANY ($2)) AS rules
           FROM app.org o WHERE o.id = $1`,
    values: [org, names],
  });
  return { rules: rows[0]?.rules ?? [], settings: rows[0]?.settings ?? {} };
}

export const keyOf = (repository: string): string =>
  URL.canParse(repository) ? repositoryKey(repository) : repository;
