import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { ConnectionWithSecret, IntegrationConnection } from '@slipway/contracts/integrations';
import { until } from '@slipway/testing';
import { type WebSocket, WebSocketServer } from 'ws';
import { FEATURES } from '../../app.module.js';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

const TOKEN = 'xapp-1-A1-the-app-level-token';

/** Slack's Socket Mode over real HTTP and WebSockets: each socket has a ticket that is good once. */
class ScriptedSlack {
  readonly sockets: WebSocket[] = [];
  readonly acknowledged: Array<{ envelope_id: string; payload?: object }> = [];
  opened = 0;
  refuses: string | null = null;
  private readonly tickets = new Set<string>();
  private readonly server: Server;
  private readonly upgrade = new WebSocketServer({ noServer: true });

  constructor() {
    this.server = createServer(
      (request, response) =>
        void this.answer(request).then((body) => response.setHeader('content-type', 'application/json').end(body)),
    );
    this.server.on('upgrade', (request, socket, head) => {
      if (!this.tickets.delete(new URL(request.url ?? '', 'http://x').searchParams.get('ticket') ?? ''))
        return socket.destroy();
      this.upgrade.handleUpgrade(request, socket, head, (made) => {
        this.sockets.push(made);
        made.on('message', (data) => this.acknowledged.push(JSON.parse(String(data))));
        made.on('close', () => this.sockets.splice(this.sockets.indexOf(made), 1));
        made.send(JSON.stringify({ type: 'hello', num_connections: this.sockets.length }));
      });
    });
  }

  private async answer(request: IncomingMessage): Promise<string> {
    await text(request);
    const error = request.headers.authorization === `Bearer ${TOKEN}` ? this.refuses : 'invalid_auth';
    if (error !== null) return JSON.stringify({ ok: false, error });
    this.opened += 1;
    const ticket = randomUUID();
    this.tickets.add(ticket);
    return JSON.stringify({ ok: true, url: `ws://${this.host}/link?ticket=${ticket}` });
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  send(frame: object, socket = this.sockets.at(-1)): void {
    socket?.send(JSON.stringify(frame));
  }

  close(): void {
    for (const socket of this.sockets) socket.terminate();
    this.server.closeAllConnections();
    this.server.close();
  }
}

jest.setTimeout(240_000);

describe('Socket Mode of Slack', () => {
  let app: ConversationApp;
  let slack: ScriptedSlack;
  let olga: User;
  let id = '';
  beforeAll(async () => {
    slack = new ScriptedSlack();
    await slack.start();
    app = await ConversationApp.start({
      replicas: 2,
      features: FEATURES,
      env: { INTEGRATION_PRIVATE_HOSTS: slack.host },
    });
    olga = await app.user('Olga');
    const settings = { baseUrl: `http://${slack.host}` };
    const body = { provider: 'slack', kind: 'socket', name: 's', host: slack.host, webhookSecret: TOKEN, settings };
    const { status, body: made } = await app.http<ConnectionWithSecret>(olga, 'POST', connections(), body);
    expect([status, made]).toEqual([201, expect.anything()]);
    id = made.connection.id;
    await holds(1);
  });
  afterAll(async () => {
    await app?.close();
    slack?.close();
  });

  const connections = (rest = ''): string => `/api/v1/orgs/${olga.orgId}/integrations/connections${rest}`;
  const connection = async (): Promise<IntegrationConnection> =>
    (await app.http<IntegrationConnection>(olga, 'GET', connections(`/${id}`))).body;
  const holds = (sockets: number) => until(`${sockets} sockets`, () => slack.sockets.length === sockets, 30_000);
  const mention = (event: string, ts = '1760000000.000100'): object => ({
    type: 'event_callback',
    event_id: event,
    team_id: 'T1',
    event: {
      type: 'app_mention',
      user: 'U1',
      text: '<@U0> fix it',
      ts,
      channel: 'C1',
      channel_type: 'channel',
      team: 'T1',
    },
  });
  const deliver = (body: object, type = 'events_api'): string => {
    const envelope = randomUUID();
    slack.send({ type, envelope_id: envelope, payload: body, accepts_response_payload: false });
    return envelope;
  };
  const isAcknowledged = (envelope: string) =>
    until(
      'it is acknowledged',
      () => slack.acknowledged.find(({ envelope_id }) => envelope_id === envelope) ?? null,
      30_000,
    );
  const deliveries = async (event: string) =>
    (
      await app.owner.query<{ id: string; event: string; jobs: number }>(
        `SELECT d.id, d.event, (SELECT count(*)::int FROM app.outbox o WHERE o.queue = 'integration-delivery' AND o.key = d.id) AS jobs
         FROM app.integration_delivery d WHERE d.connection_id = $1 AND d.delivery_id = $2`,
        [id, event],
      )
    ).rows;

  it('is one socket over all replicas, keeps each delivery once before it is acknowledged, and shows that it works', async () => {
    const event = 'Ev-first';
    for (const envelope of [deliver(mention(event)), deliver(mention(event))]) await isAcknowledged(envelope);
    expect(await deliveries(event)).toEqual([{ id: expect.any(String), event: 'app_mention', jobs: 1 }]);
    expect((await connection()).state).toBe('active');
    await isAcknowledged(deliver({ type: 'unheard of' }, 'slash_commands'));
    expect([slack.sockets.length, slack.opened]).toEqual([1, 1]);
  });

  it('does not acknowledge what it could not keep', async () => {
    await app.owner.query(
      `ALTER TABLE app.integration_delivery ADD CONSTRAINT broken CHECK (delivery_id <> 'Ev-broken')`,
    );
    const lost = deliver(mention('Ev-broken'));
    await isAcknowledged(deliver(mention('Ev-after')));
    await app.owner.query('ALTER TABLE app.integration_delivery DROP CONSTRAINT broken');
    expect(slack.acknowledged.some(({ envelope_id }) => envelope_id === lost)).toBe(false);
    await isAcknowledged(deliver(mention('Ev-broken')));
    expect(await deliveries('Ev-broken')).toHaveLength(1);
  });

  it('answers a choice that is being typed', async () => {
    const typed = {
      type: 'block_suggestion',
      user: { id: 'U9', team_id: 'T1' },
      team: { id: 'T1' },
      action_id: 'slipway.repository',
      value: '',
    };
    expect(await isAcknowledged(deliver(typed, 'interactive'))).toMatchObject({ payload: { options: [] } });
  });

  it('opens the next socket before the one that is to end ends', async () => {
    const [before] = slack.sockets;
    let least = 1;
    before?.on('close', () => {
      least = Math.min(least, slack.sockets.filter((each) => each !== before).length);
    });
    slack.send({ type: 'disconnect', reason: 'refresh_requested' });
    await until('another socket', () => slack.sockets.length === 1 && slack.sockets[0] !== before, 30_000);
    expect(least).toBe(1);
    await isAcknowledged(deliver(mention('Ev-refreshed')));
  });

  it('comes back after the socket broke, and what comes again is one delivery', async () => {
    const [before] = slack.sockets;
    await isAcknowledged(deliver(mention('Ev-again')));
    before?.terminate();
    await until('another socket', () => slack.sockets.length === 1 && slack.sockets[0] !== before, 30_000);
    await isAcknowledged(deliver(mention('Ev-again')));
    expect(await deliveries('Ev-again')).toHaveLength(1);
  });

  it('is taken over when the connection of its lock is killed', async () => {
    const [before] = slack.sockets;
    await app.owner.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'app-server-sockets' AND pid IN
      (SELECT pid FROM pg_locks WHERE locktype = 'advisory')`);
    await until('another socket', () => slack.sockets.length === 1 && slack.sockets[0] !== before, 30_000);
    await isAcknowledged(deliver(mention('Ev-taken-over')));
    expect(await deliveries('Ev-taken-over')).toHaveLength(1);
  });

  it('is taken over when its replica ends', async () => {
    const opened = slack.opened;
    await app.restart(0);
    await app.restart(1);
    await until('a replica has it', () => slack.opened > opened && slack.sockets.length === 1, 30_000);
    await isAcknowledged(deliver(mention('Ev-restarted')));
  });

  it('ends while the connection is disabled', async () => {
    await app.http(olga, 'PATCH', connections(`/${id}`), { disabled: true });
    await holds(0);
    await app.http(olga, 'PATCH', connections(`/${id}`), { disabled: false });
    await holds(1);
  });

  it('says that the token is refused, and works again with another', async () => {
    slack.refuses = 'token_revoked';
    slack.sockets[0]?.terminate();
    await until('it needs attention', async () => (await connection()).state === 'needs-attention', 30_000);
    expect((await connection()).stateReason).toContain('app-level token');
    slack.refuses = null;
    await app.http(olga, 'POST', connections(`/${id}/rotate-secret`), { webhookSecret: TOKEN });
    await holds(1);
    await until('it is active', async () => (await connection()).state === 'active', 30_000);
  });

  it('adversary: takes nothing by HTTP, has no address of its own to open, and needs its token', async () => {
    const answer = await fetch(`${app.url}/api/integration/slack/events/${id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(mention('Ev-forged')),
    });
    expect([answer.status, await deliveries('Ev-forged')]).toEqual([401, []]);
    const { status } = await app.http(olga, 'POST', connections(), { provider: 'slack', kind: 'socket', name: 'none' });
    expect(status).toBe(400);
  });
});
