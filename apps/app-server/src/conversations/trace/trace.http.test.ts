import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConversationTrace, type LedgerCall, MAX_TRACE_SPANS } from '@slipway/contracts/conversations';
import { DEMO_MODEL } from '@slipway/contracts/models';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

const BEGIN = Date.parse('2026-01-01T00:00:00Z');

/** A log as rows of the database: quicker than ingest for ten thousand lines. */
async function store(
  app: ConversationApp,
  user: User,
  id: string,
  events: ReadonlyArray<Record<string, unknown>>,
): Promise<void> {
  const rows = events.map(
    (event, index): Record<string, unknown> => ({
      id: randomUUID(),
      timestamp: new Date(BEGIN + index * 10).toISOString(),
      source: 'agent',
      ...event,
    }),
  );
  await app.owner.query(
    `INSERT INTO app.event (conversation_id, seq, org_id, epoch, event_id, kind, event)
     SELECT $1, n, $2, 1, i, k, e FROM unnest($3::json[], $4::uuid[], $5::text[]) WITH ORDINALITY AS u(e, i, k, n)`,
    [
      id,
      user.orgId,
      rows.map((row) => JSON.stringify(row)),
      rows.map((row) => row['id']),
      rows.map((row) => row['kind']),
    ],
  );
  await app.owner.query(`UPDATE app.inbox_message SET state = 'consumed' WHERE conversation_id = $1`, [id]);
  await app.owner.query('UPDATE app.conversation SET head = $2 WHERE id = $1', [id, rows.length]);
}

const state = (key: string, value: unknown) => ({
  kind: 'ConversationStateUpdateEvent',
  source: 'environment',
  key,
  value,
});
const message = (text: string) => ({
  kind: 'MessageEvent',
  source: 'user',
  llm_message: { role: 'user', content: [{ type: 'text', text }] },
});
const action = (id: string, tool = 'terminal') => ({ kind: 'ActionEvent', id, tool_name: tool, tool_call_id: id });
const observation = (of: string, text: string) => ({
  kind: 'ObservationEvent',
  action_id: of,
  observation: { kind: 'x', is_error: false, content: [{ type: 'text', text }] },
});
const call = (at: number, more: Partial<LedgerCall> = {}): LedgerCall => ({
  id: randomUUID(),
  traceId: 'ab'.repeat(16),
  model: 'demo',
  purpose: 'agent',
  attempts: 1,
  prompt: 10,
  cached: 0,
  completion: 2,
  cost: '0.0100000000',
  priced: true,
  status: 'ok',
  errorCode: null,
  at: new Date(at).toISOString(),
  firstByteMs: 5,
  latencyMs: 7,
  ...more,
});

describe('GET /api/v1/orgs/:org/conversations/:conversation/trace', () => {
  let app: ConversationApp;
  let gateway: Server;
  let user: User;
  const ledger = new Map<string, LedgerCall[]>();
  const asked: string[] = [];
  const down = new Set<string>();

  beforeAll(async () => {
    gateway = createServer((request, response) => {
      const url = new URL(request.url ?? '', 'http://gateway');
      if (url.pathname === '/v1/models') {
        const model = { id: DEMO_MODEL, object: 'model', created: 0, owned_by: 'slipway', demo: true, default: true };
        return void response
          .setHeader('content-type', 'application/json')
          .end(JSON.stringify({ object: 'list', data: [model] }));
      }
      const [, org, id] = /^\/internal\/calls\/([^/]+)\/([^/]+)$/.exec(url.pathname) ?? [];
      asked.push(`${org}/${id}`);
      if (id === undefined || down.has(id)) return void response.writeHead(503).end('{}');
      const [from, to] = [url.searchParams.get('from'), url.searchParams.get('to')];
      const all = (ledger.get(id) ?? []).filter(({ at }) => (from === null || at >= from) && (to === null || at < to));
      const limit = Number(url.searchParams.get('limit'));
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ calls: all.slice(0, limit), more: all.length > limit }));
    });
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
    app = await ConversationApp.start({
      env: { LLM_GATEWAY_URL: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}` },
    });
    user = await app.user();
  });
  afterAll(async () => {
    await app?.close();
    gateway.closeAllConnections();
    await new Promise((resolve) => gateway.close(resolve));
  });

  const read = async (id: string, query = ''): Promise<ConversationTrace> => {
    const answer = await app.http(user, 'GET', app.path(user, id, `/trace${query}`));
    expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
    return ConversationTrace.parse(answer.body);
  };
  const names = ({ spans }: ConversationTrace): string[] =>
    spans.map(({ name, status, code }) => `${name} ${code ?? status}`);

  it('200: a turn with its start, its calls and its tools, whatever a tool printed', async () => {
    const { id } = await app.conversation(user);
    const tool = randomUUID();
    await store(app, user, id, [
      state('start_task', {
        attempt: 1,
        status: 'WORKING',
        state: 'done',
        startedAt: new Date(BEGIN).toISOString(),
        elapsedMs: 5,
      }),
      message('Fix the "login"\ntest'),
      state('execution_status', 'running'),
      state('llm_retry', { anything: 1 }),
      action(tool),
      observation(tool, 'a NUL \u0000, half a pair \ud800, \\u0000 and "quotes"'),
      { kind: 'ObservationEvent', action_id: 5 },
      state('start_task', 'no step'),
      state('execution_status', 'x'.repeat(100_000)),
      { ...action(randomUUID()), tool_name: 'y'.repeat(100_000), timestamp: 'z'.repeat(100_000) },
      state('execution_status', 'finished'),
    ]);
    ledger.set(id, [call(BEGIN + 21)]);
    const trace = await read(id);
    expect(names(trace)).toEqual([
      'conversation turn ok',
      'start ok',
      'start WORKING ok',
      'invoke_agent agent ok',
      'chat demo ok',
      'execute_tool terminal ok',
    ]);
    expect(trace).toMatchObject({ calls: 'ledger', truncated: false, nextAfter: null, upto: 11 });
    expect(trace.turns).toMatchObject([
      { title: 'Fix the "login" test', traceId: 'ab'.repeat(16), calls: 1, costUsd: '0.01' },
    ]);
    expect(asked).toContain(`${user.orgId}/${id}`);
  });

  it('200: takes calls from the log while the gateway does not answer', async () => {
    const { id } = await app.conversation(user);
    const latest = { usage_id: 'agent', cost: 0.25, latency: 0.004, timestamp: 0, token_usage: usage(10, 2) };
    await store(app, user, id, [message('a'), state('execution_status', 'running'), state('stats', { latest })]);
    down.add(id);
    const trace = await read(id);
    expect(trace).toMatchObject({ calls: 'log', turns: [{ costUsd: '0.25', calls: 1 }] });
    expect(names(trace)).toEqual(['conversation turn running', 'invoke_agent agent running', 'chat demo ok']);
  });

  it('200: shows a message that waits before anything is in the log', async () => {
    const { id } = await app.conversation(user);
    const trace = await read(id);
    expect(names(trace)).toEqual(['conversation turn running']);
    expect(trace.turns[0]?.message).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('200: cuts a long log into parts under 4 MB that share no call and miss none', async () => {
    const { id } = await app.conversation(user);
    const long = 'n'.repeat(300);
    const events: Array<Record<string, unknown>> = [message(long), state('execution_status', 'running')];
    const calls: LedgerCall[] = [];
    for (let step = 0; step < 5_100; step += 1) {
      calls.push(
        call(BEGIN + events.length * 10, {
          model: long,
          prompt: 2_000_000,
          cached: 1_999_999,
          completion: 100_000,
          cost: '0.1234567891',
          attempts: 2,
        }),
      );
      const tool = randomUUID();
      events.push(
        state('stats', {
          latest: { usage_id: 'agent', cost: 1, latency: 0.001, timestamp: 0, token_usage: usage(2_000_000, 100_000) },
        }),
      );
      events.push(action(tool, long), observation(tool, 'x'));
    }
    await store(app, user, id, events);
    ledger.set(id, calls);
    const first = await read(id);
    expect(first.spans.length).toBeGreaterThan(MAX_TRACE_SPANS - 100);
    expect(first).toMatchObject({ truncated: true, upto: first.nextAfter });
    expect(JSON.stringify(first).length).toBeLessThan(4 * 1024 * 1024);
    const second = await read(id, `?after=${first.nextAfter}`);
    expect(second).toMatchObject({ truncated: false, nextAfter: null });
    // The turn and the run go on, under their ids.
    expect(second.spans.slice(0, 2).map((span) => span.id)).toEqual(first.spans.slice(0, 2).map((span) => span.id));
    const parts = [...first.spans, ...second.spans];
    const ids = (kind: string): string[] => parts.filter((span) => span.kind === kind).map((span) => span.id);
    expect([new Set(ids('chat')).size, ids('chat').length]).toEqual([5_100, 5_100]);
    expect([new Set(ids('tool')).size, ids('tool').length]).toEqual([5_100, 5_100]);
    expect(parts.filter(({ status, kind }) => status !== 'ok' && kind !== 'turn' && kind !== 'agent')).toEqual([]);
  });

  it('404: for a conversation of another organization, and for what is none', async () => {
    const other = await app.user();
    const { id } = await app.conversation(other);
    expect((await app.http(user, 'GET', app.path(user, id, '/trace'))).status).toBe(404);
    expect((await app.http(user, 'GET', app.path(user, randomUUID(), '/trace'))).status).toBe(404);
    expect((await app.http(user, 'GET', app.path(user, 'none', '/trace'))).status).toBe(404);
    expect(asked.filter((each) => each.endsWith(id))).toEqual([]);
  });
});

function usage(prompt: number, completion: number) {
  return {
    model: 'demo',
    prompt_tokens: prompt,
    completion_tokens: completion,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    context_window: 0,
    per_turn_token: 0,
    response_id: 'r',
  };
}
