import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  type EgressRequestList,
  type EgressTallyBatch,
  type EgressTopHosts,
  type EgressTraffic,
  MAX_TALLY_HOSTS,
  OTHER_HOSTS,
} from '@slipway/contracts/sandboxes';
import { createLogger } from '@slipway/telemetry';
import { until } from '@slipway/testing';
import fc from 'fast-check';
import { EgressTalliesService } from '../../apps/app-server/dist/sandboxes/egress/egress-tallies.service.js';
import type { User } from '../../apps/app-server/dist/testing/conversation-app.js';
import { ControlClient } from '../../apps/egress-proxy/dist/control/control-client.js';
import type { Line } from '../../apps/egress-proxy/dist/lines/line.js';
import { Tallies } from '../../apps/egress-proxy/dist/tallies/tallies.js';
import { CLAIMS } from '../../apps/egress-proxy/dist/testing/test-egress.js';
import { EgressWorld, type Sandbox } from './world.ts';

jest.setTimeout(120_000);

interface Counted {
  readonly conversation: string;
  readonly host: string;
  readonly port: number;
  readonly verdict: string;
  readonly rule: string;
  readonly connections: number;
  readonly bytes_out: number;
  readonly bytes_in: number;
}

describe('what sandboxes send', () => {
  let world: EgressWorld;
  let ada: User;
  beforeAll(async () => {
    world = await EgressWorld.start(0);
    ada = await world.app.user('Ada');
  });
  afterAll(() => world?.close());
  const counted = async (org: string): Promise<Counted[]> => {
    const { rows } = await world.app.owner.query<Counted>(
      `SELECT conversation_id AS conversation, host, port, verdict, rule, sum(connections)::float8 AS connections, sum(bytes_out)::float8 AS bytes_out, sum(bytes_in)::float8 AS bytes_in
       FROM app.egress_tally WHERE org_id = $1 GROUP BY 1, 2, 3, 4, 5 ORDER BY host, verdict`,
      [org],
    );
    return rows;
  };
  const batch = (more: Partial<EgressTallyBatch> & { readonly rows: EgressTallyBatch['rows'] }): EgressTallyBatch => ({
    org: ada.orgId,
    source: randomUUID(),
    seq: 1,
    ...more,
  });
  const row = (conversation: string, more: Partial<EgressTallyBatch['rows'][number]> = {}) => ({
    conversation,
    hour: Math.floor(Date.now() / 3_600_000),
    host: 'a.example',
    port: 443,
    verdict: 'allowed',
    rule: '',
    listed: false,
    connections: 1,
    bytesOut: 0,
    bytesIn: 0,
    ...more,
  });

  it('is counted while the connection is open, by what let it through, and refusals with their reason', async () => {
    const owner = await world.app.user('Olga');
    const sandbox = await world.sandbox(owner);
    const target = world.name('long.example');
    const { body: rule } = await world.rule(owner, { host: target, action: 'allow' });
    await world.rule(owner, { host: 'closed.example', action: 'deny' });
    const tunnel = await world.connect(sandbox, target);
    expect(await world.ask(tunnel)).toBe('HTTP/1.1 200 OK');
    for (const _each of [1, 2]) expect(await world.status(sandbox, world.name('closed.example'))).toBe(403);
    await until('both are counted', async () => (await counted(owner.orgId)).length === 2, 20_000);
    const [refused, open] = await counted(owner.orgId);
    expect(refused).toEqual({
      conversation: sandbox.conversation,
      host: 'closed.example',
      port: world.origin.port,
      verdict: 'rule',
      rule: '',
      connections: 2,
      bytes_out: 0,
      bytes_in: 0,
    });
    expect(open).toMatchObject({ host: 'long.example', verdict: 'allowed', rule: rule.id, connections: 1 });
    expect(open?.bytes_out).toBe('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.length);
    expect(open?.bytes_in).toBeGreaterThan(50);
    // What is open goes on to be counted, and nothing of it twice.
    expect(await world.ask(tunnel)).toBe('HTTP/1.1 200 OK');
    const ended = once(tunnel.socket, 'close');
    tunnel.socket.on('error', () => {}).destroy();
    await ended;
    const twice = 2 * 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.length;
    await until('the rest is counted', async () => (await counted(owner.orgId))[1]?.bytes_out === twice, 20_000);
    expect((await counted(owner.orgId))[1]?.connections).toBe(1);
    // A user reads it: of the conversation, of the organization, and at the next request for a host.
    const of = `/api/v1/orgs/${owner.orgId}`;
    const { body: traffic } = await world.app.http<EgressTraffic>(
      owner,
      'GET',
      `${of}/conversations/${sandbox.conversation}/egress-traffic`,
    );
    expect(traffic).toEqual({
      data: [
        expect.objectContaining({
          host: 'long.example',
          admittedBy: { kind: 'rule', id: rule.id, name: target },
          refused: null,
          connections: 1,
          bytesOut: twice,
        }),
        expect.objectContaining({ host: 'closed.example', admittedBy: null, refused: 'rule', connections: 2 }),
      ],
      hosts: 1,
      refusedHosts: 1,
      bytesOut: twice,
      bytesIn: expect.any(Number),
      bodies: [],
      budget: null,
    });
    const { body: top } = await world.app.http<EgressTopHosts>(owner, 'GET', `${of}/egress-traffic`);
    expect(top).toMatchObject({
      data: [
        { host: 'long.example', conversations: 1, connections: 1, refused: 0, bytesOut: twice },
        { host: 'closed.example', conversations: 1, connections: 0, refused: 2, bytesOut: 0 },
      ],
      hosts: 2,
      bytesOut: twice,
    });
    const { body: requests } = await world.app.http<EgressRequestList>(
      owner,
      'GET',
      `${of}/conversations/${sandbox.conversation}/egress-requests`,
    );
    expect(requests.sent).toEqual({ bytesOut: twice, hosts: 1, workspaceBytes: 0 });
    const stranger = await world.app.http<{ code: string }>(
      ada,
      'GET',
      `/api/v1/orgs/${ada.orgId}/conversations/${sandbox.conversation}/egress-traffic`,
    );
    expect([stranger.status, stranger.body.code]).toEqual([404, 'resource.not-found']);
  });

  it('is listed with its hosts of the most bytes, 200 of a conversation and 100 of 30 days of an organization', async () => {
    const owner = await world.app.user('Mia');
    const [one, gone] = [await world.sandbox(owner), await world.sandbox(owner)];
    await world.app.owner.query(
      `INSERT INTO app.egress_tally (org_id, conversation_id, hour, host, port, verdict, rule, connections, bytes_out)
       SELECT $1, $2::uuid, date_trunc('hour', now()), 'h' || n, 443, 'allowed', CASE n WHEN 300 THEN 'credential:crd_1' WHEN 299 THEN 'observed' WHEN 298 THEN 'egr_gone' ELSE '' END, 1, n
       FROM generate_series(1, 300) n
       UNION ALL SELECT $1, $3::uuid, date_trunc('hour', now()), 'deleted', 443, 'allowed', '', 1, 1000000
       UNION ALL SELECT $1, $2::uuid, now() - interval '31 days', 'old', 443, 'allowed', '', 1, 1000000`,
      [owner.orgId, one.conversation, gone.conversation],
    );
    await world.app.owner.query('UPDATE app.conversation SET deleted_at = now() WHERE id = $1', [gone.conversation]);
    const of = `/api/v1/orgs/${owner.orgId}`;
    const { body: traffic } = await world.app.http<EgressTraffic>(
      owner,
      'GET',
      `${of}/conversations/${one.conversation}/egress-traffic`,
    );
    expect(traffic.data.slice(0, 4).map(({ host, admittedBy }) => [host, admittedBy?.kind, admittedBy?.id])).toEqual([
      ['old', 'list', null],
      ['h300', 'credential', 'crd_1'],
      ['h299', 'observed', null],
      ['h298', 'rule', 'egr_gone'],
    ]);
    expect([traffic.data.length, traffic.hosts, traffic.bytesOut]).toEqual([200, 301, 1_045_150]);
    const { body: top } = await world.app.http<EgressTopHosts>(owner, 'GET', `${of}/egress-traffic`);
    expect([top.data.length, top.data[0]?.host, top.hosts, top.bytesOut]).toEqual([100, 'h300', 300, 45_150]);
    const member = await world.app.user('Max');
    await world.app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'viewer')", [
      owner.orgId,
      member.userId,
    ]);
    expect((await world.app.http(member, 'GET', `${of}/egress-traffic`)).status).toBe(403);
    const path = `${of}/conversations/${one.conversation}/egress-traffic`;
    expect((await world.app.http(member, 'GET', path)).status).toBe(200);
  });

  it('adversary: a batch that names another organization’s conversation, a deleted one or none counts nothing of these', async () => {
    const eve = await world.app.user('Eve');
    const [own, gone, others] = [await world.sandbox(eve), await world.sandbox(eve), await world.sandbox(ada)];
    await world.app.owner.query('UPDATE app.conversation SET deleted_at = now() WHERE id = $1', [gone.conversation]);
    const client = new ControlClient(world.controlUrl, world.controlSecret);
    const old = Math.floor(Date.now() / 3_600_000) - 91 * 24;
    const rows = [
      ...[others.conversation, gone.conversation, randomUUID(), 'brief-1', own.conversation].map((id) => row(id)),
      // What is not kept any more, and what is yet to come.
      ...[old, old + 200 * 24].map((hour) => row(own.conversation, { hour, host: 'when.example' })),
    ];
    await client.count(batch({ org: eve.orgId, rows }));
    expect((await counted(eve.orgId)).map(({ conversation, host }) => ({ conversation, host }))).toEqual([
      { conversation: own.conversation, host: 'a.example' },
    ]);
    expect(await counted(ada.orgId)).toEqual([]);
    // An organization that there is not leaves nothing.
    await client.count(batch({ org: 'org_none', rows: [row(own.conversation)] }));
    const { rowCount } = await world.app.owner.query("SELECT 1 FROM app.egress_tally_source WHERE org_id = 'org_none'");
    expect(rowCount).toBe(0);
    // Without the secret nothing is counted.
    const forger = new ControlClient(world.controlUrl, 'another-control-secret-0123456789abcdef');
    await expect(forger.count(batch({ org: eve.orgId, rows: [row(own.conversation)] }))).rejects.toThrow('403');
    await expect(client.count(batch({ rows: [row(own.conversation, { bytesOut: -1 })] }))).rejects.toThrow('400');
    for (const each of [client, forger]) each.close();
    // It goes with the conversation.
    await world.app.owner.query('SELECT app.delete_conversation($1, $2)', [eve.orgId, own.conversation]);
    expect(await counted(eve.orgId)).toEqual([]);
  });

  it('adversary: a sandbox that fills several batches with names has 200 of them an hour, and one row of all others', async () => {
    const owner = await world.app.user('Fay');
    const sandbox = await world.sandbox(owner);
    const client = new ControlClient(world.controlUrl, world.controlSecret);
    const source = randomUUID();
    for (const seq of [1, 2, 3])
      await client.count({
        org: owner.orgId,
        source,
        seq,
        rows: Array.from({ length: 1_000 }, (_, index) =>
          row(sandbox.conversation, { host: `${'x'.repeat(200)}${seq}-${index}.example`, bytesOut: 1 }),
        ),
      });
    client.close();
    const rows = await counted(owner.orgId);
    expect(rows).toHaveLength(MAX_TALLY_HOSTS + 1);
    expect(rows.find(({ host }) => host === OTHER_HOSTS)).toMatchObject({
      port: 0,
      connections: 2_800,
      bytes_out: 2_800,
    });
  });

  it('is forgotten after 90 days', async () => {
    const owner = await world.app.user('Old');
    const sandbox = await world.sandbox(owner);
    await world.app.owner.query(
      `INSERT INTO app.egress_tally (org_id, conversation_id, hour, host, port, verdict)
       SELECT $1, $2, now() - make_interval(days => n), 'd' || n, 443, 'allowed' FROM unnest(ARRAY[89, 91]) n`,
      [owner.orgId, sandbox.conversation],
    );
    const client = new ControlClient(world.controlUrl, world.controlSecret);
    await client.count(batch({ org: owner.orgId, rows: [row(sandbox.conversation)] }));
    client.close();
    expect((await counted(owner.orgId)).map(({ host }) => host)).toEqual(['a.example', 'd89']);
  });

  it('is summed exactly once, whatever requests and answers are lost, repeated, late or out of order', async () => {
    const app = world.app.replicas[0];
    const service = new EgressTalliesService(world.app.pool);
    expect(app).toBeDefined();
    const owners = [await world.app.user('P'), await world.app.user('Q')];
    const sandboxes: Sandbox[] = [];
    for (const owner of owners) for (const _each of [1, 2]) sandboxes.push(await world.sandbox(owner));
    const wire = fc.constantFrom('passes', 'request-lost', 'answer-lost', 'twice', 'late');
    const step = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constant('use' as const),
          of: fc.nat(3),
          host: fc.nat(2),
          bytes: fc.nat(9_999),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant('send' as const),
          proxy: fc.nat(1),
          faults: fc.array(wire, { maxLength: 4 }),
        }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('arrives' as const), which: fc.nat(9) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        await world.app.owner.query('DELETE FROM app.egress_tally WHERE org_id = ANY ($1)', [
          owners.map(({ orgId }) => orgId),
        ]);
        const net = new FaultyNet(service);
        const proxies = [new CountingProxy(net), new CountingProxy(net)];
        const expected = new Map<string, { connections: number; bytes: number }>();
        for (const each of steps)
          if (each.kind === 'use') {
            const sandbox = sandboxes[each.of] as Sandbox;
            proxies[each.bytes % 2]?.use(sandbox, `h${each.host}.example`, each.bytes);
            const key = `${sandbox.conversation} h${each.host}.example`;
            const sum = expected.get(key) ?? { connections: 0, bytes: 0 };
            expected.set(key, { connections: sum.connections + 1, bytes: sum.bytes + each.bytes });
          } else if (each.kind === 'send') {
            net.faults = [...each.faults];
            await proxies[each.proxy]?.tallies.send();
          } else await net.arrives(each.which);
        net.faults = [];
        for (const proxy of proxies) await proxy.tallies.close();
        for (let index = net.late.length; index > 0; index -= 1) await net.arrives(index - 1);
        const sums = new Map<string, { connections: number; bytes: number }>();
        for (const { orgId } of owners)
          for (const { conversation, host, connections, bytes_out: bytes } of await counted(orgId))
            sums.set(`${conversation} ${host}`, { connections, bytes });
        expect(sums).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });
});

/** Between egress-proxy and app-server: what `faults` say happens to the next requests, in turn. */
class FaultyNet {
  faults: string[] = [];
  /** Requests that are still on their way, or will come once more. */
  readonly late: EgressTallyBatch[] = [];
  private readonly service: EgressTalliesService;

  constructor(service: EgressTalliesService) {
    this.service = service;
  }

  async count(batch: EgressTallyBatch): Promise<void> {
    const fault = this.faults.shift();
    const copy = structuredClone(batch);
    if (fault === 'late') this.late.push(copy);
    if (fault === 'late' || fault === 'request-lost') throw new Error('no answer');
    await this.service.count(copy);
    if (fault === 'twice') this.late.push(copy);
    if (fault === 'answer-lost') throw new Error('no answer');
  }

  async arrives(which: number): Promise<void> {
    const batch = this.late[which % Math.max(1, this.late.length)];
    if (batch !== undefined) await this.service.count(batch);
  }
}

class CountingProxy {
  readonly tallies: Tallies;
  private readonly lines = new Set<Line>();

  constructor(client: FaultyNet) {
    this.tallies = new Tallies({
      client,
      lines: this.lines,
      source: randomUUID(),
      logger: createLogger('t', 'silent'),
    });
  }

  /** One connection that goes on to be open. */
  use(sandbox: Sandbox, host: string, bytes: number): void {
    const socket = { bytesWritten: 3, bytesRead: 0 };
    const line: Line = {
      kind: 'connect',
      claims: { ...CLAIMS, ...sandbox },
      destination: { host, port: 443 },
      socket: socket as Socket,
      admitted: null,
      allowance: null,
      since: 0,
      cut: null,
    };
    this.lines.add(line);
    this.tallies.begun(line);
    socket.bytesWritten += bytes;
  }
}
