import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { LedgerCall } from '@slipway/contracts/conversations';
import { createLogger } from '@slipway/telemetry';
import { Registry } from '@slipway/telemetry/http';
import fc from 'fast-check';
import { type Harness, ORG, openHarness, SECRET } from '../testing/harness.js';
import { OtlpSender } from './otlp-sender.js';
import { TraceExport } from './trace-export.js';
import { TraceExportMetrics } from './trace-export-metrics.js';

const BEGIN = Date.parse('2026-01-01T00:00:00Z');
const LEDGER_PAGE = 3_000;
const SECRET_WORDS = 'the plan of the merger';

interface Received {
  readonly trace: string;
  readonly id: string;
  readonly parent: string;
  readonly name: string;
}

/** Fields of a protobuf message that have a length: number and bytes. */
function* fieldsOf(bytes: Buffer): Generator<readonly [number, Buffer]> {
  for (let at = 0; at < bytes.length; ) {
    const number_ = (): number => {
      let value = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = bytes[at++] ?? 0;
        value += (byte & 0x7f) * 2 ** shift;
        if (byte < 0x80) return value;
      }
    };
    const tag = number_();
    const [field, wire] = [Math.floor(tag / 8), tag & 7];
    if (wire === 0) number_();
    else if (wire === 1) at += 8;
    else if (wire === 5) at += 4;
    else {
      const length = number_();
      yield [field, bytes.subarray(at, at + length)];
      at += length;
    }
  }
}
const inside = (bytes: Buffer, field: number): Buffer[] =>
  [...fieldsOf(bytes)].flatMap(([each, value]) => (each === field ? [value] : []));
/** ExportTraceServiceRequest → resource_spans → scope_spans → spans. */
function spansOf(request: Buffer): Received[] {
  return inside(request, 1).flatMap((resource) =>
    inside(resource, 2).flatMap((scope) =>
      inside(scope, 2).map((span) => {
        const [trace, id, parent, name] = [1, 2, 4, 5].map((field) => inside(span, field)[0] ?? Buffer.alloc(0)) as [
          Buffer,
          Buffer,
          Buffer,
          Buffer,
        ];
        return {
          trace: trace.toString('hex'),
          id: id.toString('hex'),
          parent: parent.toString('hex'),
          name: name.toString(),
        };
      }),
    ),
  );
}

jest.setTimeout(120_000);

describe('the export of traces', () => {
  let harness: Harness;
  let server: Server;
  let url: string;
  /** What the receiver answers; the last one from then on. */
  let answers: number[] = [200];
  let bodies: Buffer[] = [];
  let headers: IncomingHttpHeaders = {};
  let calls: LedgerCall[] = [];
  let gatewayAway = false;
  let now = new Date(Date.now() + 60_000);

  beforeAll(async () => {
    harness = await openHarness();
    const owner = await ownerClient();
    await owner.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'traced', 'O', 'company')`, [ORG]);
    await owner.end();
    server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        headers = request.headers;
        const status = answers.length > 1 ? (answers.shift() as number) : (answers[0] as number);
        if (status === 200) bodies.push(Buffer.concat(parts));
        response.writeHead(request.url === '/v1/traces' ? status : 404).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server?.close();
    await harness?.close();
  });
  beforeEach(async () => {
    [answers, bodies, calls, gatewayAway] = [[200], [], [], false];
    await harness.pool.query('SELECT 1');
    const owner = await ownerClient();
    await owner.query('DELETE FROM app.conversation');
    await owner.end();
  });

  async function ownerClient() {
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: harness.database.ownerUrl });
    await client.connect();
    return client;
  }
  /** Each is a process of its own. */
  const exporter = (send?: (spans: Parameters<OtlpSender['send']>[0]) => Promise<void>): TraceExport => {
    const sender = new OtlpSender({ endpoint: `${url}/`, headers: { authorization: 'Basic abc' } });
    return new TraceExport({
      pool: harness.pool,
      gateway: {
        calls: async (_org, _conversation, range) => {
          if (gatewayAway) throw new Error('the gateway is away');
          // A page at a time, as the gateway gives them.
          const found = calls.filter(({ at }) => range.from === null || Date.parse(at) >= range.from);
          return { calls: found.slice(0, LEDGER_PAGE), more: found.length > LEDGER_PAGE };
        },
      },
      send: send ?? ((spans) => sender.send(spans)),
      secret: SECRET,
      clock: { now: () => now },
      locks: { tryLock: async () => null },
      metrics: new TraceExportMetrics(new Registry()),
      logger: createLogger('test', 'silent'),
    });
  };
  const run = (one = exporter()): Promise<void> => one.run(AbortSignal.timeout(20_000));
  const received = (): Received[] => bodies.flatMap(spansOf);
  const names = (): string[] => received().map(({ name }) => name);

  const state = (key: string, value: unknown) => ({
    kind: 'ConversationStateUpdateEvent',
    source: 'environment',
    key,
    value,
  });
  const message = (id: string) => ({
    id,
    kind: 'MessageEvent',
    source: 'user',
    llm_message: { role: 'user', content: [{ type: 'text', text: SECRET_WORDS }] },
  });
  const tool = (): object[] => {
    const id = randomUUID();
    return [
      { id, kind: 'ActionEvent', tool_name: 'terminal', tool_call_id: id, action: { command: SECRET_WORDS } },
      {
        kind: 'ObservationEvent',
        action_id: id,
        observation: { kind: 'x', is_error: false, content: [{ type: 'text', text: SECRET_WORDS }] },
      },
    ];
  };
  const callAt = (at: number): LedgerCall => ({
    ...{
      id: randomUUID(),
      traceId: 'cd'.repeat(16),
      model: 'm',
      provider: 'openai',
      purpose: 'agent',
      attempts: 1,
      prompt: 1,
      cached: 0,
      completion: 1,
    },
    ...{
      cost: '0.1',
      priced: true,
      status: 'ok',
      errorCode: null,
      at: new Date(at).toISOString(),
      firstByteMs: 1,
      latencyMs: 2,
    },
  });
  const turn = (id: string): object[] => [
    message(id),
    state('execution_status', 'running'),
    ...tool(),
    state('execution_status', 'finished'),
  ];
  /** Appends to a log, as ingest does. */
  async function append(conversation: string, events: readonly object[], status = 'finished'): Promise<void> {
    const owner = await ownerClient();
    const { rows } = await owner.query<{ head: string }>('SELECT head FROM app.conversation WHERE id = $1', [
      conversation,
    ]);
    const head = Number(rows[0]?.head);
    const all = events.map(
      (event, index): Record<string, unknown> => ({
        id: randomUUID(),
        timestamp: new Date(BEGIN + (head + index) * 10).toISOString(),
        source: 'agent',
        ...event,
      }),
    );
    await owner.query(
      `INSERT INTO app.event (conversation_id, seq, org_id, epoch, event_id, kind, event)
       SELECT $1, $6::bigint + n, $2, 1, i, k, e FROM unnest($3::json[], $4::uuid[], $5::text[]) WITH ORDINALITY AS u(e, i, k, n)`,
      [
        conversation,
        ORG,
        all.map((row) => JSON.stringify(row)),
        all.map((row) => row['id']),
        all.map((row) => row['kind']),
        head,
      ],
    );
    await owner.query(
      "UPDATE app.conversation SET head = $2, status = $3, desired = 'run', updated_at = now() WHERE id = $1",
      [conversation, head + all.length, status],
    );
    await owner.query(`UPDATE app.inbox_message SET state = 'consumed' WHERE conversation_id = $1`, [conversation]);
    await owner.end();
  }

  it('sends a turn that has ended once, whole, under the trace of its message, and nothing that anybody wrote', async () => {
    const { id, message: first } = await harness.create();
    const owner = await ownerClient();
    await owner.query('UPDATE app.inbox_message SET trace_id = $2 WHERE id = $1', [first, 'ab'.repeat(16)]);
    await owner.end();
    await append(id, turn(first));
    await run();
    await run();
    await run(exporter());
    const spans = received();
    expect(spans.map(({ name }) => name).sort()).toEqual([
      'conversation turn',
      'execute_tool terminal',
      expect.stringMatching(/^invoke_agent/),
    ]);
    expect(new Set(spans.map(({ trace }) => trace))).toEqual(new Set(['ab'.repeat(16)]));
    const ids = new Set(spans.map((span) => span.id));
    expect(spans.filter(({ parent }) => parent !== '' && !ids.has(parent))).toEqual([]);
    expect(headers).toMatchObject({ authorization: 'Basic abc', 'content-type': 'application/x-protobuf' });
    const sent = Buffer.concat(bodies);
    expect([SECRET_WORDS, ORG].filter((word) => sent.includes(word))).toEqual([]);
    expect(sent.includes(id)).toBe(true);
  });

  it('waits for the end of a turn, and sends the next one alone', async () => {
    const { id, message: first } = await harness.create();
    const [asked, running, ...rest] = turn(first);
    await append(id, [asked as object, running as object], 'working');
    await run();
    expect(bodies).toEqual([]);
    await append(id, rest);
    await run();
    const before = received();
    expect(names()).toContain('conversation turn');
    const second = await harness.send(id, 'more');
    await append(id, turn(second));
    await run();
    const later = received().slice(before.length);
    expect(later.map(({ name }) => name).sort()).toEqual(before.map(({ name }) => name).sort());
    expect(later.filter((span) => before.some((each) => each.id === span.id))).toEqual([]);
  });

  it('sends a turn of more spans than the screen shows at once, and its calls from every page of the ledger', async () => {
    const { id, message: first } = await harness.create();
    const [asked, running, ...rest] = turn(first);
    await append(id, [asked as object, running as object], 'working');
    const many = 10_200;
    for (let at = 0; at < many; at += 1_700) await append(id, Array.from({ length: 1_700 }, tool).flat(), 'working');
    await append(id, rest);
    calls = Array.from({ length: 3_500 }, (_, index) => callAt(BEGIN + 20 + index));
    await run();
    const spans = received();
    const count = (name: string): number =>
      new Set(spans.flatMap((span) => (span.name === name ? [span.id] : []))).size;
    expect([count('conversation turn'), count('execute_tool terminal'), count('chat m')]).toEqual([1, many + 1, 3_500]);
    expect(spans).toHaveLength(1 + 1 + many + 1 + 3_500);
  });

  it('leaves nothing out while the receiver refuses or the gateway is away: the same spans come later', async () => {
    const { id, message: first } = await harness.create();
    await append(id, turn(first));
    gatewayAway = true;
    await expect(run()).rejects.toThrow('away');
    gatewayAway = false;
    for (const status of [400, 401, 402, 413, 500]) {
      answers = [status];
      await expect(run()).rejects.toThrow('did not take');
    }
    expect(bodies).toEqual([]);
    answers = [200];
    now = new Date(now.getTime() + 3_600_000);
    await run();
    expect(names()).toContain('execute_tool terminal');
  });

  it('gives the same set of spans wherever a worker is killed', async () => {
    const { id, message: first } = await harness.create();
    await append(id, turn(first));
    const second = await harness.send(id, 'more');
    await append(id, turn(second));
    const key = ({ trace, id: span, parent, name }: Received): string => [trace, span, parent, name].join();
    await run();
    const whole = new Set(received().map(key));
    expect(whole.size).toBe(6);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('before', 'after'), { maxLength: 3 }), async (kills) => {
        bodies = [];
        const owner = await ownerClient();
        await owner.query('DELETE FROM app.trace_export');
        await owner.end();
        const sender = new OtlpSender({ endpoint: url, headers: {} });
        for (const kill of kills)
          await run(
            exporter(async (spans) => {
              if (kill === 'after') await sender.send(spans);
              throw new Error('killed');
            }),
          ).catch(() => {});
        await run();
        expect(new Set(received().map(key))).toEqual(whole);
      }),
      { numRuns: 10 },
    );
  });
});
