// The export of traces by OTLP: CPU of worker an event and how long after a turn's last event its spans are at the
// receiver, at 1,000 events a second. The whole stack, a bare receiver.
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { signIn } from '@slipway/testing';
import pg from 'pg';
import { freePortRange } from '../deploy/local/free-ports.ts';
import { type Stack, startStack } from '../deploy/local/stack.ts';
import { percentile } from './measure/percentile.ts';
import { cpuMs } from './measure/process-usage.ts';
import { QUICK, quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

/**
 * Turns that end each second, and tool calls of one: three events each, with the word on its model call, and four
 * around them.
 */
const TURNS_A_SECOND = quick(10, 2);
const CALLS = 32;
const EVENTS = 3 * CALLS + 4;
const SECONDS = quick(60, 2);
/** How long an idle worker is measured, for what it uses without any of this. */
const IDLE_SECONDS = quick(30, 1);
const LONGEST_MS = 60_000;

interface Usage {
  readonly cpu: number;
  readonly lags: readonly number[];
}

export default async function run(report: Report): Promise<void> {
  /** When each trace was complete in the log, by its id. Milliseconds since 1970. */
  const ended = new Map<string, number>();
  const lags: number[] = [];
  const receiver = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      response.writeHead(200).end();
      const body = Buffer.concat(parts);
      for (const [trace, at] of ended)
        if (body.includes(Buffer.from(trace, 'hex'))) {
          lags.push(Date.now() - at);
          ended.delete(trace);
        }
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  try {
    const off = QUICK ? { cpu: 0, lags: [] } : await onStack({}, (stack) => fill(stack, () => {}));
    const on = await onStack({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, async (stack) => {
      const usage = await fill(stack, (trace) => void ended.set(trace, Date.now()));
      const until = performance.now() + LONGEST_MS;
      while (ended.size > 0 && performance.now() < until) await delay(50);
      return { ...usage, lags };
    });
    const events = TURNS_A_SECOND * SECONDS * EVENTS;
    report.note(
      `${events} events of ${TURNS_A_SECOND * SECONDS} turns; ${ended.size} turns did not arrive within ${LONGEST_MS / 1_000} s`,
    );
    report.figure({
      figure: 'cpu_an_event',
      value: ((on.cpu - off.cpu) * 1_000) / events,
      unit: 'us',
      floor: 200,
      n: events,
    });
    report.figure({ figure: 'lag_p50', value: percentile([...on.lags], 0.5), unit: 'ms', n: on.lags.length });
    report.figure({
      figure: 'lag_p99',
      value: percentile([...on.lags], 0.99),
      unit: 'ms',
      floor: 5_000,
      n: on.lags.length,
    });
    report.figure({ figure: 'missing', value: ended.size, unit: 'count', n: TURNS_A_SECOND * SECONDS });
  } finally {
    receiver.closeAllConnections();
    receiver.close();
  }
}

async function onStack(env: Readonly<Record<string, string>>, work: (stack: Stack) => Promise<Usage>): Promise<Usage> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-trace-export-'));
  const stack = await startStack({
    port: await freePortRange(),
    dataDirectory: path.join(folder, 'data'),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], LOG_LEVEL: 'warn', ...env },
    log: () => {},
    signal: AbortSignal.timeout(120_000),
    without: ['web'],
  });
  try {
    return await work(stack);
  } finally {
    await stack.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Turns by the clock, as ingest leaves them. @returns what worker used from the first until everything is idle. */
async function fill(stack: Stack, onEnd: (trace: string) => void): Promise<Usage> {
  const database = new pg.Client({ connectionString: stack.ownerUrl });
  await database.connect();
  try {
    const orgId = (await signIn(stack.url)).me.orgs[0]?.id ?? '';
    const worker = stack.pidOf('worker');
    const before = await cpuMs(worker);
    const began = performance.now();
    for (let turn = 0; turn < TURNS_A_SECOND * SECONDS; turn += 1) {
      await delay(Math.max(0, began + (turn * 1_000) / TURNS_A_SECOND - performance.now()));
      const trace = randomBytes(16).toString('hex');
      await writeTurn(database, orgId, trace);
      onEnd(trace);
    }
    await delay(IDLE_SECONDS * 1_000);
    return { cpu: (await cpuMs(worker)) - before, lags: [] };
  } finally {
    await database.end();
  }
}

async function writeTurn(database: pg.Client, orgId: string, trace: string): Promise<void> {
  const conversation = randomUUID();
  const begin = Date.now() - EVENTS * 10;
  const at = (index: number): string => new Date(begin + index * 10).toISOString();
  const state = (key: string, value: unknown): object => ({
    kind: 'ConversationStateUpdateEvent',
    source: 'environment',
    key,
    value,
  });
  const call = (): object[] => {
    const id = randomUUID();
    const latest = {
      ...{ usage_id: 'agent', latency: 0.005, cost: 0.001 },
      token_usage: {
        model: 'm',
        prompt_tokens: 900,
        completion_tokens: 40,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        reasoning_tokens: 0,
      },
    };
    return [
      state('stats', { latest }),
      {
        id,
        kind: 'ActionEvent',
        source: 'agent',
        tool_name: 'terminal',
        tool_call_id: id,
        action: { kind: 'TerminalAction', command: 'x'.repeat(200) },
      },
      {
        kind: 'ObservationEvent',
        source: 'environment',
        action_id: id,
        observation: { is_error: false, content: [{ type: 'text', text: 'y'.repeat(2_000) }] },
      },
    ];
  };
  const events = [
    {
      kind: 'MessageEvent',
      source: 'user',
      llm_message: { role: 'user', content: [{ type: 'text', text: 'Mend it' }] },
    },
    state('execution_status', 'running'),
    ...Array.from({ length: CALLS }, call).flat(),
    {
      kind: 'MessageEvent',
      source: 'agent',
      llm_message: { role: 'assistant', content: [{ type: 'text', text: 'Done' }] },
    },
    state('execution_status', 'finished'),
  ].map((event, index): Record<string, unknown> => ({ id: randomUUID(), timestamp: at(index), ...event }));
  await database.query('BEGIN');
  await database.query(
    `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model, status, desired, head, status_state)
     VALUES ($1, $2, 'u', 'u', 't', 'm', 'finished', 'rest', $3, '{"execution":"finished","start":"ready","halt":"none"}')`,
    [conversation, orgId, events.length],
  );
  await database.query(
    `INSERT INTO app.event (conversation_id, seq, org_id, epoch, producer_seq, event_id, kind, event)
     SELECT $1, n, $2, 1, n, i, k, e FROM unnest($3::json[], $4::uuid[], $5::text[]) WITH ORDINALITY AS u(e, i, k, n)`,
    [
      conversation,
      orgId,
      events.map((event) => JSON.stringify(event)),
      events.map((event) => event['id']),
      events.map((event) => event['kind']),
    ],
  );
  await database.query(
    `INSERT INTO gateway.ledger (id, org_id, conversation_id, key_id, user_id, request_id, trace_id, model, prompt_tokens, completion_tokens, cached_tokens, usage_source, cost_usd,
       cost_known, status, streamed, started_at, first_byte_ms, latency_ms)
     SELECT gen_random_uuid(), $1, $2, 'k', 'u', 'r', $3, 'm', 900, 40, 0, 'reported', 0.001, true, 'ok', true, t, 2, 5 FROM unnest($4::timestamptz[]) t`,
    [orgId, conversation, trace, Array.from({ length: CALLS }, (_, index) => at(2 + index * 3))],
  );
  await database.query('COMMIT');
}
