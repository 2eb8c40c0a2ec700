import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { inOrg } from '@slipway/db/sql';
import { createLogger } from '@slipway/telemetry';
import { seedTwoOrgs } from '@slipway/testing';
import pg from 'pg';
import { LlmGatewayClient } from '../clients/llm-gateway.client.js';
import { RuntimeApiClient } from '../clients/runtime-api.client.js';
import { ConversationLocks } from '../conversations/conversation-locks.js';
import { type Harness, ORG, openHarness, SECRET } from '../testing/harness.js';
import { OrgDeletion } from './org-deletion.js';
import { OrgPauses } from './org-pauses.js';
import { orgsToClose } from './orgs.queries.js';

const logger = createLogger('orgs-test', 'silent');
const never = new AbortController().signal;

describe('what ends with a member or an organization', () => {
  let harness: Harness;
  let owner: pg.Pool;
  let locks: ConversationLocks;
  let rest: OrgPauses;
  let deletion: OrgDeletion;
  beforeAll(async () => {
    harness = await openHarness();
    owner = new pg.Pool({ connectionString: harness.database.ownerUrl, max: 2 });
    locks = new ConversationLocks({ databaseUrl: harness.database.urls.app, applicationName: 'orgs-test', logger });
    rest = new OrgPauses(harness.pool, harness.queue, logger);
    const gateway = new LlmGatewayClient({ url: harness.peers.gatewayUrl, masterKey: SECRET });
    deletion = new OrgDeletion(
      harness.pool,
      locks,
      new RuntimeApiClient({ url: harness.peers.runtimeUrl, apiKey: SECRET, appKey: () => SECRET }),
      gateway,
      logger,
    );
    await seedTwoOrgs(owner, { conversations: 40, events: 3 });
  });
  beforeEach(async () => {
    await owner.query(
      `INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'test', 'Test', 'company') ON CONFLICT (id) DO UPDATE SET deletes_at = NULL`,
      [ORG],
    );
  });
  afterAll(async () => {
    await locks?.close();
    await owner?.end();
    await harness?.close();
  });

  const addJob = (queue: string, key: string, payload: object, ageSeconds: number): Promise<unknown> =>
    owner.query(
      `INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at) VALUES ($1, $2, $3, $4, $5, now() - $6 * interval '1 second')`,
      [randomUUID(), ORG, queue, key, payload, ageSeconds],
    );
  const running = async (createdBy: string): Promise<string> => {
    const { id } = await harness.create();
    await owner.query('UPDATE app.conversation SET created_by = $2 WHERE id = $1', [id, createdBy]);
    await harness.start(id);
    return id;
  };
  const deletesIn = (seconds: number): Promise<unknown> =>
    owner.query(`UPDATE app.org SET deletes_at = now() + $2 * interval '1 second' WHERE id = $1`, [ORG, seconds]);
  /** Rows of each table with an organization's id. */
  const counts = async (orgId: string): Promise<Record<string, number>> => {
    const { rows } = await owner.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.columns WHERE table_schema = 'app' AND column_name = 'org_id' ORDER BY 1`,
    );
    const all: Record<string, number> = {};
    for (const { name } of rows) {
      const { rowCount } = await owner.query(`SELECT 1 FROM app."${name}" WHERE org_id = $1`, [orgId]);
      if (rowCount !== null && rowCount > 0) all[name] = rowCount;
    }
    return all;
  };

  it('what a removed member has running is paused with its log kept and its key of the models ended; what others run goes on', async () => {
    const [theirs, others] = [await running('usr_gone'), await running('usr_stays')];
    const before = await harness.log(theirs);
    await addJob('member-removed', `${ORG}.usr_gone`, {}, 0);
    await rest.ofMember({ orgId: ORG, userId: 'usr_gone' }, never);
    expect([(await harness.row(theirs)).desired, await harness.jobs(theirs)]).toEqual(['rest', ['conversation-pause']]);
    harness.peers.requests.length = 0;
    await harness.rest(theirs);
    expect(harness.peers.requests).toContain('runtime POST /pause');
    expect(harness.peers.requests).toContain('gateway POST /key/delete');
    expect((await harness.row(theirs)).sandboxStatus).toBe('PAUSED');
    expect((await harness.log(theirs)).slice(0, before.length)).toEqual(before);
    expect([(await harness.row(others)).desired, (await harness.row(others)).sandboxStatus]).toEqual([
      'run',
      'RUNNING',
    ]);
  });

  it('what a removed member began on the strength of what they were allowed a moment before is ended too', async () => {
    expect((await owner.query(`SELECT 1 FROM app.outbox WHERE queue = 'member-removed'`)).rowCount).toBe(1);
    const late = await running('usr_gone');
    await owner.query(
      `UPDATE app.outbox SET enqueued_at = now() - interval '4 seconds' WHERE queue = 'member-removed'`,
    );
    await rest.ofMember({ orgId: ORG, userId: 'usr_gone' }, never);
    expect((await harness.row(late)).desired).toBe('rest');
    expect((await owner.query(`SELECT 1 FROM app.outbox WHERE queue = 'member-removed'`)).rowCount).toBe(0);
    await harness.rest(late);
  });

  it('an organization that waits for its deletion has everything paused, also what starts later; one that was restored goes on', async () => {
    const one = await running('usr_a');
    await addJob('org-closing', ORG, { orgId: ORG }, 4);
    await rest.ofOrg({ orgId: ORG }, never);
    expect((await harness.row(one)).desired).toBe('run');
    expect((await owner.query(`SELECT 1 FROM app.outbox WHERE queue = 'org-closing'`)).rowCount).toBe(0);
    await deletesIn(3_600);
    expect(await orgsToClose(harness.pool)).toEqual([{ orgId: ORG, due: false }]);
    await rest.ofOrg({ orgId: ORG }, never);
    expect((await harness.row(one)).desired).toBe('rest');
    await harness.rest(one);
    expect(await orgsToClose(harness.pool)).toEqual([]);
  });

  it('before its time an organization is not deleted, and not while a sandbox may be left', async () => {
    const id = await running('usr_a');
    await deletesIn(3_600);
    await deletion.run({ orgId: ORG }, never);
    expect((await counts(ORG))['conversation']).toBeGreaterThan(0);
    await deletesIn(-1);
    expect(await orgsToClose(harness.pool)).toEqual([{ orgId: ORG, due: true }]);
    harness.peers.onRequest = (label) => {
      if (label.startsWith('runtime')) throw new Error('away');
    };
    await expect(deletion.run({ orgId: ORG }, never)).rejects.toThrow();
    harness.peers.onRequest = () => {};
    expect((await harness.row(id)).desired).toBe('rest');
    expect((await owner.query('SELECT 1 FROM app.org WHERE id = $1', [ORG])).rowCount).toBe(1);
  });

  it('when its time is over everything of it is gone but its audit, sandboxes first; nothing of others is touched; again is harmless', async () => {
    await owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, 'usr_a', 'owner')`, [ORG]);
    await owner.query(`INSERT INTO app.blob (org_id, sha256, bytes, content) VALUES ($1, 'x', 1, '\\x00')`, [ORG]);
    await owner.query(
      `INSERT INTO app.invitation (id, org_id, email, role, token_hash, invited_by, invited_by_label, expires_at) VALUES (gen_random_uuid(), $1, 'e', 'member', 'h', 'u', 'u', now())`,
      [ORG],
    );
    await inOrg(harness.pool, ORG, (client) =>
      client.query(
        `INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, action, target) VALUES (gen_random_uuid(), $1, 'user', 'usr_a', 'org.delete', $1)`,
        [ORG],
      ),
    );
    await sealedRows(owner);
    const others = [await counts('org_seed1'), await counts('org_seed2')];
    await deletesIn(-1);
    harness.peers.requests.length = 0;
    await deletion.run({ orgId: ORG }, never);
    expect(await counts(ORG)).toEqual({ audit_chain: 2, audit_entry: 2 });
    expect((await owner.query('SELECT 1 FROM app.org WHERE id = $1', [ORG])).rowCount).toBe(0);
    expect(harness.peers.requests).toContain('runtime POST /stop');
    expect([await counts('org_seed1'), await counts('org_seed2')]).toEqual(others);
    const { rows } = await owner.query(
      `SELECT actor_kind, action, before FROM app.audit_entry WHERE org_id = $1 AND action = 'org.deleted'`,
      [ORG],
    );
    expect(rows).toEqual([{ actor_kind: 'system', action: 'org.deleted', before: { name: 'Test', slug: 'test' } }]);
    await deletion.run({ orgId: ORG }, never);
    expect(await counts(ORG)).toEqual({ audit_chain: 2, audit_entry: 2 });
  });
});

/** Under the organization's data key: a secret, and a pack of which a checkpoint is gone. */
async function sealedRows(owner: pg.Pool): Promise<void> {
  await owner.query(
    `INSERT INTO app.org_data_key (org_id, version, wrapped, master_id) VALUES ($1, 99, '\\x00', 'm')`,
    [ORG],
  );
  await owner.query(
    `INSERT INTO app.secret (id, org_id, name, kind, scope, scope_value, description, sealed, key_version, masked, created_by, created_by_label, updated_by, updated_by_label)
     VALUES ('sec_1', $1, 'A', 'variable', 'org', '', '', '\\x00', 99, true, 'u', 'u', 'u', 'u')`,
    [ORG],
  );
  await owner.query(
    `INSERT INTO app.pack (org_id, id, bytes, live_bytes, wrapped_key, key_version, stored_by) VALUES ($1, $2, 1, 1, '\\x00', 99, gen_random_uuid())`,
    [ORG, '0'.repeat(32)],
  );
  await owner.query(`INSERT INTO app.pack_storage (org_id, used_bytes) VALUES ($1, 1)`, [ORG]);
}
