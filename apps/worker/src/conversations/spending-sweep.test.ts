import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createPool, inOrg, type SqlPool } from '@slipway/db/sql';
import { createLogger } from '@slipway/telemetry';
import { until } from '@slipway/testing';
import { LlmGatewayClient } from '../clients/llm-gateway.client.js';
import { type Harness, ORG, openHarness, SECRET } from '../testing/harness.js';
import { ChargePassRequests } from './charge-pass-requests.js';
import { ConversationLocks } from './conversation-locks.js';
import { ConversationSpendings } from './conversation-spending.js';
import { SpendingSweep } from './spending-sweep.js';

const logger = createLogger('worker-test', 'silent');
const never = new AbortController().signal;

describe('who pays for a message that went straight to agent-server', () => {
  let harness: Harness;
  let locks: ConversationLocks;
  let sandboxes: SqlPool;
  const sweepOf = (spendings: Pick<ConversationSpendings, 'apply'>): SpendingSweep =>
    new SpendingSweep(harness.pool, spendings, locks, logger, new ChargePassRequests(harness.pool, gateway(), logger));
  const gateway = (): LlmGatewayClient => new LlmGatewayClient({ url: harness.peers.gatewayUrl, masterKey: SECRET });
  const spendings = (): ConversationSpendings => new ConversationSpendings(harness.pool, gateway());

  beforeAll(async () => {
    harness = await openHarness();
    locks = new ConversationLocks({ databaseUrl: harness.database.urls.app, applicationName: 'worker-test', logger });
    sandboxes = createPool({ url: harness.database.urls.sandbox, max: 1, applicationName: 'test', onError: () => {} });
  });
  afterAll(async () => {
    await sandboxes?.end();
    await locks?.close();
    await harness?.close();
  });
  beforeEach(() => {
    harness.peers.spendings.splice(0);
    harness.peers.passes.splice(0);
    harness.peers.gatewayAway = false;
  });

  /** As sandbox-gateway, with its own role, for the holder of an access. */
  const straight = async (conversation: string, user: string): Promise<boolean | undefined> => {
    const grant = `sbx_${conversation}_${user}`;
    await inOrg(harness.pool, ORG, (client) =>
      client.query(
        `INSERT INTO app.sandbox_grant (id, org_id, user_id, conversation_id, port, ticket_expires_at, expires_at)
         VALUES ($1, $2, $3, $4, 8000, now(), now() + interval '1 hour') ON CONFLICT DO NOTHING`,
        [grant, ORG, user, conversation],
      ),
    );
    return (await sandboxes.query<{ told: boolean }>('SELECT told FROM app.spend_through_sandbox($1, true)', [grant]))
      .rows[0]?.told;
  };

  it('is sent to llm-gateway within a round, once, and stays until the next author', async () => {
    const { id } = await harness.create();
    await harness.start(id);
    harness.peers.spendings.splice(0);
    const sweep = sweepOf(spendings());
    expect(await straight(id, 'usr_b')).toBe(false);
    await sweep.run(never, 0);
    await sweep.run(never, 250);
    expect(harness.peers.spendings.map(({ user }) => user)).toEqual(['usr_b']);
    expect(await straight(id, 'usr_b')).toBe(true);
    await harness.send(id, 'mine', 'usr_c');
    await harness.addJob('conversation-deliver', id);
    await harness.start(id);
    expect(harness.peers.spendings.map(({ user }) => user)).toEqual(['usr_b', 'usr_c']);
    expect(await straight(id, 'usr_b')).toBe(false);
    await sweep.run(never, 500);
    expect(harness.peers.spendings.at(-1)?.user).toBe('usr_b');
  });

  it('is sent by the rounds of a worker that runs, and again when the gateway was away, while others are sent', async () => {
    const { id } = await harness.create();
    await harness.start(id);
    harness.peers.gatewayAway = true;
    harness.peers.requests.splice(0);
    await straight(id, 'usr_b');
    const sweep = sweepOf(spendings());
    sweep.start();
    try {
      await until('it was tried', () => harness.peers.requests.includes('gateway PUT /internal/spending/:id'));
      harness.peers.gatewayAway = false;
      await until('the gateway has it', () => straight(id, 'usr_b'));
    } finally {
      await sweep.close();
    }
  });

  it('is the last one also when two are sent at the same time: a slow message of the one before is followed by the one that holds', async () => {
    const { id } = await harness.create();
    const sent: string[] = [];
    const slow = new ConversationSpendings(harness.pool, {
      putSpending: async (_id, { user }) => {
        // usr_b is on its way while usr_c is recorded, sent and acknowledged.
        if (user === 'usr_b' && !sent.includes('usr_c')) {
          await straight(id, 'usr_c');
          await sweepOf(quick).run(never, 0);
        }
        sent.push(user);
      },
    });
    const quick = new ConversationSpendings(harness.pool, {
      putSpending: async (conversation, { user }) => void (conversation === id && sent.push(user)),
    });
    await slow.charge(ORG, id, { id: 'usr_b', label: 'B' }, never);
    expect(sent).toEqual(['usr_c', 'usr_b', 'usr_c']);
    expect(await straight(id, 'usr_c')).toBe(true);
  });

  it('a pass for what is asked beside the task is sent with who gave it, again when the gateway was away, and the task counts as before', async () => {
    const { id } = await harness.create();
    await straight(id, 'usr_b');
    const hash = randomBytes(32);
    const request = (grant: string) =>
      sandboxes.query<{ requested: boolean }>('SELECT app.request_charge_pass($1, $2) AS requested', [grant, hash]);
    const isApplied = async () =>
      (await sandboxes.query('SELECT 1 FROM app.charge_pass_request WHERE hash = $1', [hash])).rowCount === 0;
    expect((await request('sbx_unknown')).rows[0]?.requested).toBe(false);
    expect((await request(`sbx_${id}_usr_b`)).rows[0]?.requested).toBe(true);
    const sweep = sweepOf(spendings());
    harness.peers.gatewayAway = true;
    await sweep.run(never, 0);
    expect(await isApplied()).toBe(false);
    harness.peers.gatewayAway = false;
    await sweep.run(never, 250);
    expect(await isApplied()).toBe(true);
    await sweep.run(never, 500);
    expect(harness.peers.passes).toEqual([
      { org: ORG, conversation: id, user: 'usr_b', userLabel: 'usr_b', sha256: hash.toString('hex') },
    ]);
  });
});
