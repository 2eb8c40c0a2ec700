import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type EgressBodyBatch, type EgressTraffic, MAX_PRINTS_BYTES } from '@slipway/contracts/sandboxes';
import { freePort } from '@slipway/testing';
import { ConversationApp, type User } from '../../apps/app-server/dist/testing/conversation-app.js';
import { ControlClient } from '../../apps/credential-broker/dist/control/control-client.js';

jest.setTimeout(120_000);

const EGRESS_CONTROL_SECRET = 'egress-control-of-tests-0123456789abcdef';
const CREDENTIAL_CONTROL_SECRET = 'credential-control-of-tests-0123456789abcdef';
const MB = 1024 * 1024;
type Row = EgressBodyBatch['rows'][number];

describe('what credential-broker saw in bodies', () => {
  let app: ConversationApp;
  let broker: ControlClient;
  let forger: ControlClient;
  let ada: User;
  beforeAll(async () => {
    const port = await freePort();
    app = await ConversationApp.start({
      env: { EGRESS_CONTROL_SECRET, CREDENTIAL_CONTROL_SECRET, INTERNAL_PORT: String(port) },
    });
    broker = new ControlClient(`http://127.0.0.1:${port}`, CREDENTIAL_CONTROL_SECRET);
    forger = new ControlClient(`http://127.0.0.1:${port}`, EGRESS_CONTROL_SECRET);
    ada = await app.user('Ada');
  });
  afterAll(async () => {
    for (const client of [broker, forger]) client?.close();
    await app?.close();
  });
  const row = (conversation: string, more: Partial<Row> = {}): Row => ({
    conversation,
    hour: Math.floor(Date.now() / 3_600_000),
    host: 'api.example',
    port: 443,
    type: 'application/json',
    folder: '',
    requests: 1,
    bytes: 1_000,
    workspaceBytes: 0,
    unreadBytes: 0,
    ...more,
  });
  const batch = (user: User, rows: Row[], more: Partial<EgressBodyBatch> = {}): EgressBodyBatch => ({
    org: user.orgId,
    source: randomUUID(),
    seq: 1,
    rows,
    ...more,
  });
  const traffic = async (user: User, conversation: string): Promise<EgressTraffic> => {
    const at = `/api/v1/orgs/${user.orgId}/conversations/${conversation}/egress-traffic`;
    return (await app.http<EgressTraffic>(user, 'GET', at)).body;
  };

  it('is counted once however often it comes, and listed by host with its folders and types', async () => {
    const { id } = await app.conversation(ada);
    const one = batch(ada, [
      row(id, { requests: 2, bytes: 48_000, workspaceBytes: 12_000 }),
      row(id, { folder: 'src/billing', requests: 0, bytes: 0, workspaceBytes: 9_000 }),
      row(id, { folder: 'src/web', requests: 0, bytes: 0, workspaceBytes: 3_000 }),
      row(id, { type: '', unreadBytes: 1_000 }),
      row(id, { host: 'other.example', type: 'text/plain' }),
    ]);
    for (const seq of [1, 1, 2, 1]) await broker.countBodies({ ...one, seq });
    const { bodies } = await traffic(ada, id);
    expect(bodies).toEqual([
      {
        host: 'api.example',
        port: 443,
        requests: 6,
        bytes: 98_000,
        workspaceBytes: 24_000,
        unreadBytes: 2_000,
        folders: [
          { folder: 'src/billing', bytes: 18_000 },
          { folder: 'src/web', bytes: 6_000 },
        ],
        types: [
          { type: 'application/json', bytes: 96_000 },
          { type: '', bytes: 2_000 },
        ],
      },
      expect.objectContaining({ host: 'other.example', workspaceBytes: 0, folders: [] }),
    ]);
  });

  it('adversary: is of no conversation of another organization, and nothing without the secret; it goes with its conversation', async () => {
    const eve = await app.user('Eve');
    const [own, others] = [await app.conversation(eve), await app.conversation(ada)];
    await broker.countBodies(
      batch(eve, [row(own.id), row(others.id, { bytes: 7 }), row('brief-1'), row(randomUUID())]),
    );
    expect((await traffic(ada, others.id)).bodies).toEqual([]);
    expect((await traffic(eve, own.id)).bodies).toHaveLength(1);
    await expect(forger.countBodies(batch(eve, [row(own.id)]))).rejects.toThrow('403');
    await expect(forger.prints({ org: eve.orgId, claim: 'clm', conversation: own.id })).rejects.toThrow('403');
    await expect(broker.countBodies(batch(eve, [row(own.id, { bytes: -1 })]))).rejects.toThrow('400');
    await app.owner.query('SELECT app.delete_conversation($1, $2)', [eve.orgId, own.id]);
    const { rowCount } = await app.owner.query('SELECT 1 FROM app.egress_body WHERE org_id = $1', [eve.orgId]);
    expect(rowCount).toBe(0);
  });

  it('adversary: a sandbox that names ever new folders and types has a bounded number of rows, without characters that turn a text', async () => {
    const { id } = await app.conversation(ada);
    for (let seq = 1; seq <= 5; seq += 1)
      await broker.countBodies(
        batch(
          ada,
          Array.from({ length: 500 }, (_, index) => row(id, { folder: `\u202esrc\u0000/${seq}-${index}` })),
          { source: randomUUID() },
        ),
      );
    const { rows } = await app.owner.query<{ folder: string }>(
      'SELECT folder FROM app.egress_body WHERE conversation_id = $1',
      [id],
    );
    expect(rows.length).toBeGreaterThan(500);
    expect(rows.length).toBeLessThanOrEqual(2_000);
    expect(rows.filter(({ folder }) => !/^\?src\?\/\d-\d+$/.test(folder))).toEqual([]);
  });

  it('counts tenfold against an egress budget, once, and not at all without one', async () => {
    const owner = await app.user('Bo');
    const { id } = await app.conversation(owner);
    const settings = `/api/v1/orgs/${owner.orgId}/settings`;
    const report = batch(owner, [
      row(id, { host: 'a.api.example', workspaceBytes: 100_000 }),
      row(id, { host: 'a.api.example', folder: 'src', requests: 0, bytes: 0, workspaceBytes: 100_000 }),
    ]);
    await broker.countBodies(report);
    const spent = async () => {
      const { rows } = await app.owner.query<{ host: string; bytes: string }>(
        'SELECT host, bytes FROM app.egress_spent WHERE conversation_id = $1 ORDER BY host',
        [id],
      );
      return rows;
    };
    expect(await spent()).toEqual([]);
    expect((await app.http(owner, 'PATCH', settings, { egressDailyMb: 5 })).status).toBe(200);
    for (const seq of [2, 2]) await broker.countBodies({ ...report, seq });
    expect(await spent()).toEqual([
      { host: '', bytes: '900000' },
      { host: 'api.example', bytes: '900000' },
    ]);
    await broker.countBodies({ ...report, seq: 3, rows: [row(id, { workspaceBytes: 10 * MB })] });
    expect((await traffic(owner, id)).budget).toMatchObject({ limitBytes: 5 * MB, spentBytes: 900_000 + 90 * MB });
  });

  it('is compared with fingerprints of its own sandbox alone; one that is hostile, slow or away says none', async () => {
    const prints = { window: 64, folders: ['.'], prints: 'AQAAAA==', owners: 'AA==', cut: false };
    let answer = (response: ServerResponse): void => void response.end(JSON.stringify(prints));
    const asked: string[] = [];
    const agent = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${String(request.headers['x-session-api-key'])}`);
      answer(response);
    });
    agent.listen(0, '127.0.0.1');
    await once(agent, 'listening');
    const url = `http://127.0.0.1:${(agent.address() as AddressInfo).port}`;
    const { id } = await app.conversation(ada);
    const question = { org: ada.orgId, claim: 'clm', conversation: id };
    expect(await broker.prints(question)).toBeNull();
    await app.started(id, 1, { url, key: 'session-key-of-a-test', workingDir: '/workspace/app' });
    expect(await broker.prints(question)).toEqual(prints);
    expect(asked).toEqual(['GET /api/file/fingerprints?path=%2Fworkspace%2Fapp session-key-of-a-test']);
    const eve = await app.user('Eva');
    for (const other of [{ org: eve.orgId }, { conversation: randomUUID() }, { conversation: 'brief-1' }])
      expect(await broker.prints({ ...question, ...other })).toBeNull();
    expect(asked).toHaveLength(1);
    const hostile: Array<(response: ServerResponse) => void> = [
      (response) => response.end('A'.repeat(2 * MAX_PRINTS_BYTES)),
      (response) => response.end(JSON.stringify({ ...prints, owners: 'AAAA' })),
      (response) => response.end(JSON.stringify({ ...prints, window: 3 })),
      (response) => response.end('no JSON'),
      (response) => response.writeHead(500).end(),
      (response) => response.destroy(),
      // Neither an answer nor an end.
      () => {},
    ];
    for (const each of hostile) {
      answer = each;
      expect(await broker.prints(question)).toBeNull();
    }
    agent.closeAllConnections();
    agent.close();
  });
});
