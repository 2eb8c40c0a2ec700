import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { asSystem, createPool, inOrg, type SqlPool } from './sql/index.js';
import { insertCheckpointRows } from './testing/checkpoint-world.js';
import { createDatabase, type Database } from './testing/database.js';

/**
 * Policies by which a row is found without knowing its organization, for reading only: whoever names a key's id learns
 * whose key it is.
 */
const READ_BY_PROOF: ReadonlySet<string> = new Set(['gateway.virtual_key lookup']);

/** What narrows a table further, whatever the organization. */
const RESTRICTIVE: ReadonlySet<string> = new Set(['app.conversation not_deleted']);

/** What no service may change: a change is refused before anybody asks whose row it is. */
const APPEND_ONLY: ReadonlySet<string> = new Set(['audit_entry', 'audit_chain']);

describe('row-level security', () => {
  let database: Database;
  let owner: pg.Client;

  beforeAll(async () => {
    database = await createDatabase();
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
  });
  afterAll(async () => {
    await owner?.end();
    await database?.close();
  });

  /** The one that finds a table whose maker forgot it. */
  it('every table with org_id, in every schema, is under FORCE ROW LEVEL SECURITY with policies that also check what is written', async () => {
    const tables = await owner.query<{ name: string; enabled: boolean; forced: boolean }>(
      `SELECT n.nspname || '.' || c.relname AS name, c.relrowsecurity AS enabled, c.relforcerowsecurity AS forced
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname IN ('app', 'runtime', 'gateway') AND c.relkind IN ('r', 'p')
         AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'org_id' AND NOT a.attisdropped) ORDER BY 1`,
    );
    expect(tables.rows.length).toBeGreaterThan(8);
    const policies = await owner.query<{
      name: string;
      policy: string;
      command: string;
      read: string | null;
      write: string | null;
    }>(
      `SELECT n.nspname || '.' || c.relname AS name, p.polname AS policy, p.polcmd AS command, pg_get_expr(p.polqual, p.polrelid) AS read, pg_get_expr(p.polwithcheck, p.polrelid) AS write
       FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE p.polroles = '{0}'`,
    );
    const tenant = "(org_id = current_setting('app.org'::text, true))";
    for (const table of tables.rows) {
      expect(table).toEqual({ name: table.name, enabled: true, forced: true });
      const own = policies.rows.filter(
        ({ name, policy }) =>
          name === table.name && ![READ_BY_PROOF, RESTRICTIVE].some((known) => known.has(`${name} ${policy}`)),
      );
      expect(own).toEqual([{ name: table.name, policy: 'tenant', command: '*', read: tenant, write: tenant }]);
    }
    for (const { name, policy, command } of policies.rows)
      if (READ_BY_PROOF.has(`${name} ${policy}`))
        expect({ name, policy, command }).toEqual({ name, policy, command: 'r' });
  });

  it('no view or function lets a service see more than its role may: no security definer, no owner among the services', async () => {
    const { rows } = await owner.query<{ what: string }>(
      `SELECT 'function ' || p.oid::regprocedure AS what FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname IN ('app', 'runtime', 'gateway') AND p.prosecdef
       UNION ALL SELECT 'view ' || c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname IN ('app', 'runtime', 'gateway') AND c.relkind IN ('v', 'm') AND NOT coalesce(c.reloptions @> '{security_invoker=true}', false)
       UNION ALL SELECT 'owned by ' || r.rolname || ': ' || c.oid::regclass FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner WHERE r.rolname LIKE 'slipway\\_%'
       UNION ALL SELECT 'role ' || rolname FROM pg_roles WHERE rolname LIKE 'slipway\\_%' AND (rolbypassrls OR rolsuper)`,
    );
    expect(rows.map(({ what }) => what)).toEqual([]);
  });

  it('leaves the history of migrations and functions to the owner: a service that was taken over decides nothing of the next upgrade', async () => {
    const { rows } = await owner.query<{ held: string }>(
      `SELECT r.rolname || ' ' || privilege || ' ' || n.nspname AS held
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       CROSS JOIN pg_roles r CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER']) privilege
       WHERE c.relname IN ('_prisma_migrations', '_slipway_functions') AND r.rolname LIKE 'slipway_%' AND has_table_privilege(r.oid, c.oid, privilege)`,
    );
    expect(rows).toEqual([]);
  });

  describe('with the service’s own filter removed', () => {
    let pool: SqlPool;
    const mine = { org: 'org_mine', conversation: randomUUID() };
    const theirs = { org: 'org_theirs', conversation: randomUUID() };

    beforeAll(async () => {
      pool = createPool({ url: database.urls.app, max: 4, applicationName: 'test', onError: () => {} });
      for (const { org, conversation } of [mine, theirs]) {
        await owner.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ($1, $1, $1, 'personal')`, [org]);
        await owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, 'usr', 'owner')`, [org]);
        await owner.query(
          `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model, head) VALUES ($1, $2, 'usr', 'u', 't', 'm', 1)`,
          [conversation, org],
        );
        await owner.query(
          `INSERT INTO app.inbox_message (id, org_id, conversation_id, text, created_by, created_by_label) VALUES (gen_random_uuid(), $2, $1, 't', 'u', 'u')`,
          [conversation, org],
        );
        await owner.query(
          `WITH thread AS (INSERT INTO app.review_thread (id, org_id, conversation_id, number, anchor, created_at) VALUES (gen_random_uuid(), $2, $1, 1, '{}', now()) RETURNING id),
             viewed AS (INSERT INTO app.review_viewed (org_id, conversation_id, user_id, path_hash, path, hash) VALUES ($2, $1, 'usr', '\\x00', 'p', 'h'))
           INSERT INTO app.review_comment (id, org_id, conversation_id, thread_id, text, created_by, created_by_label, created_at) SELECT gen_random_uuid(), $2, $1, id, 't', 'u', 'u', now() FROM thread`,
          [conversation, org],
        );
        await owner.query(
          `INSERT INTO app.event (conversation_id, seq, org_id, epoch, event_id, kind, event) VALUES ($1, 1, $2, 1, gen_random_uuid(), 'k', '{}')`,
          [conversation, org],
        );
        await owner.query(`INSERT INTO app.blob (org_id, sha256, bytes, content) VALUES ($1, 'same', 1, '\\x00')`, [
          org,
        ]);
        await owner.query(
          `INSERT INTO app.conversation_blob (conversation_id, sha256, org_id) VALUES ($1, 'same', $2)`,
          [conversation, org],
        );
        await owner.query(
          `INSERT INTO app.workspace_snapshot (conversation_id, org_id, changes, patch) VALUES ($1, $2, '[]', '')`,
          [conversation, org],
        );
        await owner.query(
          `INSERT INTO app.outbox (id, org_id, queue, key, payload) VALUES (gen_random_uuid(), $1, 'q', $1, '{}')`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, action, target) VALUES (gen_random_uuid(), $1, 'user', 'u', 'a', 't')`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.invitation (id, org_id, email, role, token_hash, invited_by, invited_by_label, expires_at) VALUES ($1, $2, 'e', 'member', convert_to($2, 'UTF8'), 'u', 'u', now())`,
          [conversation, org],
        );
        await owner.query(`INSERT INTO app.outgoing_mail (id, org_id, recipient, subject) VALUES ($1, $2, 'e', 's')`, [
          conversation,
          org,
        ]);
        await owner.query(`INSERT INTO app.former_member (org_id, user_id) VALUES ($1, 'usr')`, [org]);
        await owner.query(`INSERT INTO app.org_domain (org_id, domain, challenge) VALUES ($1, 'same.example', 'c')`, [
          org,
        ]);
        await owner.query(
          `INSERT INTO app.org_data_key (org_id, version, wrapped, master_id) VALUES ($1, 1, '\\x00', 'm')`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.secret (id, org_id, name, kind, scope, scope_value, description, sealed, key_version, masked, created_by, created_by_label, updated_by, updated_by_label)
           VALUES ($1, $1, 'N', 'variable', 'org', '', '', '\\x00', 1, true, 'u', 'u', 'u', 'u')`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.credential (id, org_id, name, description, form, scope, scope_value, use, hosts, sealed, key_version, reference_key, created_by, created_by_label, updated_by, updated_by_label)
           VALUES ($1, $1, 'N', '', 'bearer', 'org', '', '{}', '{}', '\\x00', 1, '\\x00', 'u', 'u', 'u', 'u')`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.llm_profile (id, org_id, name, model, created_by, created_by_label) VALUES ($1, $1, 'n', 'm', 'u', 'u')`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.mcp_server (id, org_id, name, transport, enabled, config, created_by, created_by_label) VALUES ($1, $1, 'n', 'http', true, '{}', 'u', 'u')`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.idempotency_key (org_id, actor_id, route, key, body_hash) VALUES ($1, 'u', 'r', 'k', 'h')`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.sandbox_grant (id, org_id, user_id, conversation_id, port, ticket_expires_at, expires_at) VALUES ($2, $2, 'usr', $1, 8000, now(), now())`,
          [conversation, org],
        );
        await owner.query(
          `INSERT INTO app.service_account (id, org_id, name, role, created_by, created_by_label) VALUES ($1, $1, 'n', 'member', 'u', 'u')`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.api_key (id, org_id, name, owner_kind, owner_id, scopes, hash, prefix, last4, expires_at, created_by, created_by_label)
           VALUES ($1, $1, 'n', 'user', 'usr', '{}', '\\x00', 'p', 'l', now(), 'u', 'u')`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.device_authorization (id, device_code_hash, user_code_hash, client, scopes, expires_at, interval_seconds, org_id)
           VALUES ($1, convert_to($2, 'UTF8'), convert_to($2, 'UTF8'), 'c', '{}', now(), 5, $2)`,
          [conversation, org],
        );
        await owner.query(
          `INSERT INTO app.usage_day VALUES ($1, '2026-11-22', 'usr', '', 'm', 'u', 1, 0, 1, 0, 1, 1, 0)`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.usage_conversation VALUES ($1, '2026-11-22', 'usr', '', 'm', $2, 'u', 1, 0, 1, 0, 1, 1, 0)`,
          [org, conversation],
        );
        await owner.query('INSERT INTO app.budget (org_id) VALUES ($1)', [org]);
        await owner.query(`INSERT INTO app.budget_override (org_id, user_id, changed_by) VALUES ($1, 'usr', 'u')`, [
          org,
        ]);
        await owner.query(
          `INSERT INTO app.budget_notice (org_id, user_id, cycle_start, cycle_end, threshold, spent_usd, limit_usd) VALUES ($1, '', '2026-11-01', '2026-12-01', 50, 1, 2)`,
          [org],
        );
        await owner.query(
          `WITH pin AS (INSERT INTO app.conversation_pin (conversation_id, org_id, user_id) VALUES ($1, $2, 'usr'))
           INSERT INTO app.conversation_spender (conversation_id, org_id, user_id, user_label) VALUES ($1, $2, 'usr', 'u')`,
          [conversation, org],
        );
        await owner.query(
          `INSERT INTO app.charge_pass_request (hash, org_id, conversation_id, user_id, user_label) VALUES (sha256(convert_to($2, 'UTF8')), $2, $1, 'usr', 'u')`,
          [conversation, org],
        );
        const { rows: outcome } = await owner.query<{ id: string }>(
          `INSERT INTO app.pull_request_outcome (org_id, provider, host, repository, number, conversation_id, begun_at) VALUES ($2, 'p', 'h', 'a/b', 1, $1, now()) RETURNING id`,
          [conversation, org],
        );
        await owner.query(
          'INSERT INTO app.pull_request_work (org_id, pull_request_id, conversation_id) VALUES ($1, $2, $3)',
          [org, outcome[0]?.id, conversation],
        );
        await owner.query('INSERT INTO app.trace_export VALUES ($1, $2, 1)', [conversation, org]);
        await owner.query(
          `INSERT INTO app.analytics_event (id, org_id, user_id, name, at, properties) VALUES ($1, $2, 'usr', 'n', now(), '{}')`,
          [conversation, org],
        );
        await owner.query(
          `INSERT INTO app.attachment (id, org_id, conversation_id, name, media_type, bytes, content, created_by, created_by_label) VALUES (gen_random_uuid(), $2, $1, 'n', 't', 1, '\\x00', 'u', 'u')`,
          [conversation, org],
        );
        await owner.query(
          `INSERT INTO app.prompt (id, org_id, user_id, name, description, text, created_by, created_by_label, updated_by, updated_by_label)
           VALUES ($1, $1, '', 'n', '', 't', 'u', 'u', 'u', 'u')`,
          [org],
        );
        await owner.query(
          `WITH rule AS (INSERT INTO app.egress_rule (org_id, id, scope, host, below, action, created_by, created_by_label) VALUES ($2, 'r', 'organization', 'h', false, 'allow', 'u', 'u'))
           INSERT INTO app.egress_request (org_id, id, conversation_id, claim_id, host, port, first_time) VALUES ($2, 'r', $1, 'c', 'h', 1, true)`,
          [conversation, org],
        );
        await owner.query(
          `WITH tally AS (INSERT INTO app.credential_tally (org_id, conversation_id, credential_id, place, day, uses) VALUES ($2, $1, 'c', 'p', current_date, 1)), used AS (INSERT INTO app.credential_use (org_id, id, conversation_id, credential_id, place, fingerprint, counted) VALUES ($2, gen_random_uuid(), $1, 'c', 'p', 'f', true))
           INSERT INTO app.credential_request (org_id, id, conversation_id, claim_id, host, port, credential_id, place_key, use, fingerprint, first_time) VALUES ($2, 'r', $1, 'c', 'h', 1, 'c', 'p', '{}', 'f', true)`,
          [conversation, org],
        );
        await owner.query(
          `WITH seen AS (INSERT INTO app.egress_observed (org_id, host, port, conversation_id) VALUES ($2, 'h', 1, $1)), source AS (INSERT INTO app.egress_tally_source (org_id, source, seq) VALUES ($2, gen_random_uuid(), 1))
           INSERT INTO app.egress_tally (org_id, conversation_id, hour, host, port, verdict) VALUES ($2, $1, now(), 'h', 1, 'allowed')`,
          [conversation, org],
        );
        await owner.query(
          `INSERT INTO app.egress_body (org_id, conversation_id, hour, host, port, type) VALUES ($2, $1, now(), 'h', 1, '')`,
          [conversation, org],
        );
        await owner.query(
          `WITH spent AS (INSERT INTO app.egress_spent (org_id, conversation_id, day, host, bytes) VALUES ($2, $1, '2026-01-01', '', 1))
           INSERT INTO app.egress_grant (org_id, id, conversation_id, day, host, bytes) VALUES ($2, 'g', $1, '2026-01-01', 'h', 1)`,
          [conversation, org],
        );
        await insertCheckpointRows(owner, org, conversation);
        await owner.query(`INSERT INTO app.message_draft VALUES ($1, 'usr', 'new-task', NULL, 't', 1)`, [org]);
        await owner.query('INSERT INTO app.analytics_position (org_id, audit_seq) VALUES ($1, 1)', [org]);
        await owner.query(
          `INSERT INTO app.analytics_conversation (conversation_id, org_id, upto, state) VALUES ($1, $2, 1, '{}')`,
          [conversation, org],
        );
        await owner.query(`INSERT INTO app.analytics_member (org_id, user_id) VALUES ($1, 'usr')`, [org]);
        await owner.query(
          `INSERT INTO app.sandbox_steering (conversation_id, user_id, org_id, until) VALUES ($1, 'usr', $2, now())`,
          [conversation, org],
        );
        await owner.query(`INSERT INTO app.read_mark (conversation_id, user_id, org_id) VALUES ($1, 'usr', $2)`, [
          conversation,
          org,
        ]);
        await owner.query('INSERT INTO app.org_storage (org_id) VALUES ($1)', [org]);
        await owner.query(`INSERT INTO app.budget_stop (org_id, user_id, limit_usd, until) VALUES ($1, '', 1, now())`, [
          org,
        ]);
        await owner.query(
          `INSERT INTO app.integration_connection (id, org_id, provider, kind, name, host, signature, own, settings, created_by, created_by_label)
           VALUES ($1, $1, 'p', 'k', 'n', 'h', 's', '{}', '{}', 'u', 'u')`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.integration_secret (id, org_id, connection_id, kind, sealed, key_version) VALUES ($1, $1, $1, 'webhook', '\\x00', 1)`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.integration_delivery (id, org_id, connection_id, delivery_id, event, sealed, key_version, bytes) VALUES ($1, $1, $1, 'd', 'e', '\\x00', 1, 1)`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.integration_dedupe (org_id, provider, host, semantic_key, delivery_id) VALUES ($1, 'p', 'h', 'same', 'd')`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.integration_thread (connection_id, thread_key, org_id, place, title, confidential) VALUES ($1, 't', $1, '{}', 't', false)`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.linked_account (id, org_id, provider, host, external_user_id, user_id, login) VALUES ($1, $1, 'p', 'h', 'same', 'usr', 'l')`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.link_request (id, org_id, user_id, session_id, connection_id, provider, host, state_hash, nonce_hash, expires_at)
           VALUES ($1, $1, 'usr', 's', $1, 'p', 'h', convert_to($1, 'UTF8'), '\\x00', now())`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.outgoing_webhook (id, org_id, name, url, events, created_by, created_by_label) VALUES ($1, $1, 'n', 'u', '{}', 'u', 'u')`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.outgoing_webhook_secret (id, org_id, webhook_id, sealed, key_version) VALUES ($1, $1, $1, '\\x00', 1)`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.webhook_message (id, org_id, webhook_id, event, body) VALUES ($1, $1, $1, 'e', '{}')`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.thread_answer (id, org_id, connection_id, thread_key, kind, place, marker) VALUES ($1, $1, $1, 't', 'progress', '{}', 'm')`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.repository_grant (org_id, conversation_id, connection_id, full_name) SELECT $1, id, $1, 'a/b' FROM app.conversation WHERE org_id = $1 LIMIT 1`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.integration_hook (id, org_id, connection_id, repository, hook_id, secret_id, installed_by, installed_by_label) VALUES (gen_random_uuid(), $1, $1, 'a/b', '1', 's', 'u', 'u')`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.integration_app (connection_id, org_id, app_id, slug, state) VALUES ($1, $1, '1', 's', 'registered')`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.integration_account_claim (provider, host, account_id, org_id, connection_id) VALUES ('p', 'h', $1, $1, $1)`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.integration_app_request (id, org_id, user_id, session_id, kind, connection_id, provider, detail, expires_at)
           VALUES ($1, $1, 'usr', 's', 'register', $1, 'p', '{}', now())`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.integration_recovery (connection_id, delivery_id, org_id, event, failed_at, asked_at) VALUES ($1, 'd', $1, 'e', now(), now())`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.authorization_request (id, org_id, user_id, session_id, connection_id, state_hash, nonce_hash, expires_at)
           VALUES ($1, $1, 'usr', 's', $1, convert_to($1, 'UTF8'), '\\x00', now())`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.credential_revocation (id, org_id, connection_id, kind, sealed, key_version, provider, host, settings) VALUES ($1, $1, $1, 'k', '\\x00', 1, 'p', 'h', '{}')`,
          [org],
        );
        await owner.query(
          `INSERT INTO app.pull_request (id, org_id, conversation_id, provider, host, repository, wanted) VALUES (gen_random_uuid(), $1, gen_random_uuid(), 'p', 'h', 'a/b', '{}')`,
          [org],
        );
      }
    });
    afterAll(() => pool?.end());

    const tables = async (): Promise<string[]> => {
      const { rows } = await owner.query<{ table_name: string }>(
        `SELECT table_name FROM information_schema.columns WHERE table_schema = 'app' AND column_name = 'org_id' ORDER BY 1`,
      );
      return rows.map(({ table_name }) => table_name);
    };

    it('a query sees the rows of its own organization only, and outside of any none', async () => {
      for (const table of await tables()) {
        const seen = await inOrg(pool, mine.org, (client) =>
          client.query<{ org_id: string }>(`SELECT DISTINCT org_id FROM app.${table}`),
        );
        expect([table, seen.rows.map(({ org_id }) => org_id)]).toEqual([table, [mine.org]]);
        expect([table, (await pool.query(`SELECT 1 FROM app.${table}`)).rowCount]).toEqual([table, 0]);
      }
    });

    it('an update or a delete without a filter touches nothing of another organization, and no row can be given to one', async () => {
      for (const table of (await tables()).filter((name) => !APPEND_ONLY.has(name))) {
        const before = await owner.query(`SELECT count(*)::int AS rows FROM app.${table} WHERE org_id = $1`, [
          theirs.org,
        ]);
        await inOrg(pool, mine.org, async (client) => {
          await client.query(`SAVEPOINT s`);
          await expect(client.query(`UPDATE app.${table} SET org_id = $1`, [theirs.org])).rejects.toThrow(
            /row-level security/,
          );
          await client.query(`ROLLBACK TO s`);
          await client.query(`DELETE FROM app.${table}`);
          throw new Error('undo');
        }).catch((error: Error) => expect(error.message).toBe('undo'));
        const after = await owner.query(`SELECT count(*)::int AS rows FROM app.${table} WHERE org_id = $1`, [
          theirs.org,
        ]);
        expect([table, after.rows]).toEqual([table, before.rows]);
      }
    });

    it('a row for another organization is refused, and the pool says so as `denied`, in a transaction and without one', async () => {
      let denied = 0;
      const count = (): number => ++denied;
      pool.addListener('denied', count);
      const text =
        "INSERT INTO app.outbox (id, org_id, queue, key, payload) VALUES (gen_random_uuid(), 'org_of_others', 'org-delete', 'x', '{}')";
      await expect(inOrg(pool, 'org_of_mine', (client) => client.query(text))).rejects.toThrow('row-level security');
      expect(denied).toBe(1);
      await expect(pool.query(text)).rejects.toThrow('row-level security');
      expect(denied).toBe(2);
      pool.removeListener('denied', count);
    });

    it('the functions of the hot paths answer for another organization’s conversation as for a missing one', async () => {
      const append = (org: string, conversation: string) =>
        pool.query<{ outcome: string }>(
          `SELECT outcome FROM app.append_events($1, $2, NULL, NULL, '{NULL}', ARRAY[gen_random_uuid()], '{k}', '{"{}"}', '{}')`,
          [org, conversation],
        );
      expect((await append(mine.org, theirs.conversation)).rows[0]?.outcome).toBe('missing');
      expect(
        (await pool.query('SELECT * FROM app.read_events($1, $2, 0, NULL, 10)', [mine.org, theirs.conversation]))
          .rowCount,
      ).toBe(0);
      expect((await append(mine.org, mine.conversation)).rows[0]?.outcome).toBe('ok');
    });

    it('an organization that one transaction named is not that of the next one on the same connection', async () => {
      const one = createPool({ url: database.urls.app, max: 1, applicationName: 'test', onError: () => {} });
      await inOrg(one, mine.org, (client) => client.query('SELECT 1'));
      expect((await one.query('SELECT 1 FROM app.conversation')).rowCount).toBe(0);
      await asSystem(one, 'slipway_app_system', 'test', async (client) =>
        expect((await client.query('SELECT 1 FROM app.conversation')).rowCount).toBe(2),
      );
      expect((await one.query('SELECT 1 FROM app.conversation')).rowCount).toBe(0);
      await expect(inOrg(one, mine.org, () => Promise.reject(new Error('x')))).rejects.toThrow('x');
      expect((await one.query('SELECT 1 FROM app.conversation')).rowCount).toBe(0);
      await one.end();
    });
  });
});
