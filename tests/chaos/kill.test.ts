import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Conversation, QueuedMessage } from '@slipway/contracts/conversations';
import type { LoggedEvent } from '@slipway/contracts/events';
import {
  type BillingServer,
  ConversationWatcher,
  createSampleRepository,
  type GitServer,
  signIn,
  startBillingServer,
  startGitServer,
  startRedisServer,
  until,
} from '@slipway/testing';
import { skipTest } from '@slipway/testing/jest';
import pg from 'pg';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { METRICS_OFFSET, PORT_OFFSETS } from '../../deploy/local/settings.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { runningCommands, sandboxProcesses } from './sandbox-processes.ts';

/** Its price is the catalogue's. */
const MODEL = 'gpt-4o';
/** Conversations at work at once. */
const CONVERSATIONS = Number(process.env['CHAOS_CONVERSATIONS'] ?? 10);
/** Tool calls of each; one takes 0.3 s and more, so that they outlast all the kills. */
const STEPS = 150;
/** Longest that a conversation may show nothing new after a kill. Milliseconds. */
const STUCK_MS = 30_000;
/** Longest that a sandbox may be without owner, or an owner without sandbox. Milliseconds. */
const ORPHAN_MS = 60_000;

interface Running {
  readonly id: string;
  readonly watchers: [ConversationWatcher, ConversationWatcher];
  readonly sent: string[];
}

jest.setTimeout(900_000);

describe('kill -9 of any one process while ten conversations run', () => {
  let folder: string;
  let stack: Stack;
  let git: GitServer;
  /** It bills like a provider: for all that it set out to say, whoever was killed meanwhile. */
  let model: BillingServer;
  let redis: Awaited<ReturnType<typeof startRedisServer>>;
  let user: Awaited<ReturnType<typeof signIn>>;
  let database: pg.Client;
  let orgId: string;
  const running: Running[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-chaos-'));
    await createSampleRepository(path.join(folder, 'repositories'), 'sample.git', { 'README.md': '# Sample\n' });
    git = await startGitServer(path.join(folder, 'repositories'));
    model = await startBillingServer({
      models: { [MODEL]: { input: 2.5, cachedInput: 1.25, output: 10 } },
      script: (request) => {
        const done = (request.body.messages ?? []).filter((message) => message.role === 'assistant').length;
        return done < STEPS
          ? {
              text: `Step ${done}.`.padEnd(60, '.'),
              toolCalls: [{ name: 'terminal', arguments: { command: `sleep 0.3; echo step ${done}` } }],
              // Long enough that some stream is always under way.
              chunkLength: 6,
              chunkDelayMs: 20,
              work: { hiddenTokens: 40 },
            }
          : { toolCalls: [{ name: 'finish', arguments: { message: 'All steps are done.' } }] };
      },
    });
    redis = await startRedisServer();
    stack = await startStack({
      port: await freePortRange(),
      dataDirectory: path.join(folder, 'data'),
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        LLM_BASE_URL: model.url,
        LLM_API_KEY: 'scripted',
        LLM_MODEL: MODEL,
        ORG_SANDBOX_LIMIT: '20',
        ...(redis === null ? {} : { REDIS_URL: redis.url }),
      },
      log: () => {},
      signal: AbortSignal.timeout(120_000),
      without: ['web'],
    });
    user = await signIn(stack.url, { username: 'demo', password: 'demo' });
    orgId = user.me.orgs[0]?.id ?? '';
    await reconnect();
  });

  afterAll(async () => {
    for (const { watchers } of running) for (const watcher of watchers) watcher.close();
    await database?.end();
    await stack?.stop();
    await redis?.stop();
    await model?.close();
    await git?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** The test's own connection, too, ends with the server. */
  async function reconnect(): Promise<void> {
    await database?.end().catch(() => {});
    database = await until('Postgres answers', async () => {
      const client = new pg.Client({ connectionString: stack.ownerUrl, connectionTimeoutMillis: 2_000 });
      client.on('error', () => {});
      await client.connect();
      return client;
    });
  }

  const watch = (conversationId: string): ConversationWatcher =>
    new ConversationWatcher(stack.url, user.cookie, { orgId, conversationId });
  const post = async (address: string, body: unknown): Promise<Response> =>
    until(
      `POST ${address}`,
      async () => {
        // What every client does: the same key again until there is an answer.
        const response = await user.fetch(address, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': JSON.stringify(body) },
          body: JSON.stringify(body),
        });
        return response.status < 500 && response.status !== 409 ? response : false;
      },
      30_000,
    );

  /** Waits until every conversation has done three more steps: more than what was under way when the process died. */
  async function everyoneMovesOn(what: string): Promise<void> {
    const steps = ({ watchers }: Running): number =>
      watchers[0].log.filter(({ event }) => event.kind === 'ObservationEvent').length;
    expect(running.filter(({ watchers }) => watchers[0].executionStatus() === 'finished')).toEqual([]);
    const before = running.map(steps);
    await until(
      `each conversation goes on after ${what}`,
      () =>
        running.every(
          (each, index) => steps(each) >= (before[index] ?? 0) + 3 || each.watchers[0].executionStatus() === 'finished',
        ),
      STUCK_MS,
    );
  }

  it('ten conversations run', async () => {
    for (let index = 0; index < CONVERSATIONS; index += 1) {
      const response = await post(`/api/v1/orgs/${orgId}/conversations`, {
        prompt: `Conversation ${index}: do all the steps.`,
        repository: `${git.url}/sample.git`,
      });
      expect(response.status).toBe(201);
      const { id } = (await response.json()) as Conversation;
      running.push({ id, watchers: [watch(id), watch(id)], sent: [] });
    }
    await Promise.all(
      running.map(({ watchers }) =>
        watchers[0].waitFor('the first step', ({ event }) => event.kind === 'ObservationEvent', 60_000),
      ),
    );
  });

  for (const service of ['app-server', 'worker', 'runtime-api', 'llm-gateway', 'sandbox-gateway']) {
    it(`no conversation is stuck 30 s after ${service} was killed`, async () => {
      const pid = stack.pidOf(service);
      process.kill(pid, 'SIGKILL');
      await until(`${service} runs again`, () => stack.pidOf(service) !== pid && stack.pidOf(service) > 0);
      await everyoneMovesOn(service);
    });
  }

  it('no conversation is stuck 30 s after llm-gateway was killed in the middle of a stream', async () => {
    const [{ watchers }] = running as [Running];
    const heard = watchers[0].deltas.length;
    await until('a piece of an answer', () => watchers[0].deltas.length > heard, STUCK_MS);
    const pid = stack.pidOf('llm-gateway');
    process.kill(pid, 'SIGKILL');
    await until('llm-gateway runs again', () => stack.pidOf('llm-gateway') !== pid && stack.pidOf('llm-gateway') > 0);
    await everyoneMovesOn('llm-gateway in mid-stream');
  });

  it('no conversation is stuck 30 s after every connection to Postgres was ended', async () => {
    const ended = await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`,
    );
    expect(ended.rowCount).toBeGreaterThan(10);
    await everyoneMovesOn("Postgres' backends");
  });

  it('no conversation is stuck 30 s after Postgres itself was killed', async () => {
    const pid = stack.pidOf('postgres');
    process.kill(pid, 'SIGKILL');
    await until('Postgres runs again', () => stack.pidOf('postgres') !== pid, STUCK_MS);
    await reconnect();
    await everyoneMovesOn('Postgres');
  });

  it('no conversation is stuck 30 s after a command and its shell were killed in the middle', async () => {
    const [command] = await until('a command is under way', () => {
      const found = runningCommands(stack.dataDirectory, 'sleep');
      return found.length > 0 && found;
    });
    for (const pid of [command?.pid, command?.shell]) if (pid !== undefined) process.kill(pid, 'SIGKILL');
    await everyoneMovesOn('a command');
  });

  it('a message sent while things die is taken in once', async () => {
    process.kill(stack.pidOf('worker'), 'SIGKILL');
    for (const conversation of running) {
      const text = `Remember this: ${conversation.id}`;
      const response = await post(`/api/v1/orgs/${orgId}/conversations/${conversation.id}/messages`, { text });
      expect(response.status).toBe(202);
      conversation.sent.push(((await response.json()) as QueuedMessage).id);
    }
    process.kill(stack.pidOf('app-server'), 'SIGKILL');
    await Promise.all(
      running.map(({ watchers, sent }) =>
        watchers[0].waitFor('the message in the log', ({ event }) => event.id === sent[0], STUCK_MS),
      ),
    );
  });

  for (const [index, kind] of (['agent-server', 'action-server'] as const).entries()) {
    it(`no conversation is stuck 30 s after its ${kind} was killed`, async () => {
      const victim = await until('the process is found', async () => {
        const found = await database.query<{ sandbox_url: string | null }>(
          'SELECT sandbox_url FROM app.conversation WHERE id = $1',
          [running[index]?.id],
        );
        const url = found.rows[0]?.sandbox_url;
        if (url == null) return null;
        const processes = sandboxProcesses(stack.dataDirectory);
        const agent = processes.find((each) => each.kind === 'agent-server' && each.port === Number(new URL(url).port));
        return processes.find((each) => each.kind === kind && each.slotId === agent?.slotId);
      });
      process.kill(victim.pid, 'SIGKILL');
      await everyoneMovesOn(kind);
    });
  }

  it('no conversation is stuck 30 s after Redis was killed and came back', async () => {
    if (redis === null)
      return skipTest('redis-server is not on the PATH; install it (apt-get install redis-server) to run this');
    await redis.kill();
    await redis.restart();
    await everyoneMovesOn('Redis');
  });

  it('every conversation ends', async () => {
    await Promise.all(running.map(({ watchers }) => watchers[0].waitForExecution('finished', 300_000)));
  });

  it('two clients of a conversation have the same log, and it is the one in the database: no line lost, doubled or reordered', async () => {
    for (const { id, watchers, sent } of running) {
      const rows = await database.query<{ seq: string; epoch: number; event: LoggedEvent['event'] }>(
        'SELECT seq, epoch, event FROM app.event WHERE conversation_id = $1 ORDER BY seq',
        [id],
      );
      const stored = rows.rows.map((row) => ({
        conversationId: id,
        epoch: row.epoch,
        seq: Number(row.seq),
        event: row.event,
      }));
      await until('both clients are at the end', () => watchers.every((watcher) => watcher.lastSeq === stored.length));
      expect(watchers[0].log).toEqual(stored);
      expect(watchers[1].log).toEqual(stored);
      expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, index) => index + 1));
      expect(new Set(stored.map(({ event }) => event.id)).size).toBe(stored.length);
      const messages = stored.flatMap(({ event }) =>
        event.kind === 'MessageEvent' && event.source === 'user' ? [event.id] : [],
      );
      expect(messages.length).toBe(1 + sent.length);
      expect(messages.slice(1)).toEqual(sent);
      const late = watch(id);
      try {
        await until('a late client has all of it', () => late.lastSeq === stored.length);
        expect(late.log).toEqual(stored);
      } finally {
        late.close();
      }
    }
  });

  it('every step was asked of the model and answered: an action never stays without its answer', async () => {
    for (const { watchers } of running) {
      const events = watchers[0].log.map(({ event }) => event);
      const asked = events.flatMap((event) => (event.kind === 'ActionEvent' ? [event.tool_call_id] : []));
      const answered = new Set(
        events.flatMap((event) =>
          event.kind === 'ObservationEvent' || event.kind === 'AgentErrorEvent' ? [event.tool_call_id] : [],
        ),
      );
      expect(asked.filter((id) => !answered.has(id))).toEqual([]);
    }
  });

  it('what the provider bills is in the ledger, for every conversation; and what people are shown is the ledger', async () => {
    const sum = async (text: string): Promise<number> =>
      Number((await database.query<{ sum: string }>(text)).rows[0]?.sum ?? 0);
    await until(
      'no call is under way or only in a spool',
      async () => {
        const { rows: open } = await database.query(
          `SELECT c.replica, c.recorded_at, r.beat_at, count(*) OVER () AS calls FROM gateway.open_call c LEFT JOIN gateway.budget_replica r ON r.id = c.replica LIMIT 1`,
        );
        const metrics = await (
          await fetch(
            `http://127.0.0.1:${Number(new URL(stack.url).port) + METRICS_OFFSET + PORT_OFFSETS['llm-gateway']}/metrics`,
          )
        ).text();
        const pending = Number(/^llm_ledger_pending(?:{.*})? (\d+)$/m.exec(metrics)?.[1] ?? 0);
        if (open.length > 0 || pending > 0)
          throw new Error(`${JSON.stringify(open)} under way, ${pending} in the spool`);
        return true;
      },
      ORPHAN_MS,
    );
    const billed = model.bill();
    const ledger = await sum('SELECT sum(cost_usd) FROM gateway.ledger');
    process.stderr.write(
      `billed ${billed.usd.toFixed(4)} USD for ${billed.calls.length} calls, in the ledger ${ledger.toFixed(4)} USD\n`,
    );
    expect(ledger).toBeGreaterThanOrEqual(billed.usd);
    // An estimate is the largest that a call could have cost: only calls whose end is unknown may be above their bill.
    const known = await sum(`SELECT sum(cost_usd) FROM gateway.ledger WHERE usage_source = 'reported'`);
    expect(known).toBeLessThanOrEqual(billed.usd + 1e-6);
    const ofConversation = new Map<string, number>();
    for (const [index, { raw }] of model.requests.entries()) {
      const id = running[Number(/Conversation (\d+): do all the steps/.exec(raw.toString())?.[1])]?.id ?? 'of none';
      ofConversation.set(id, (ofConversation.get(id) ?? 0) + (billed.calls[index]?.usd ?? 0));
    }
    expect([...ofConversation.keys()].sort()).toEqual(running.map(({ id }) => id).sort());
    for (const [id, usd] of ofConversation)
      expect(
        await sum(`SELECT sum(cost_usd) FROM gateway.ledger WHERE conversation_id = '${id}'`),
      ).toBeGreaterThanOrEqual(usd - 1e-9);
    await until(
      'what people are shown is the ledger',
      async () => Math.abs((await sum('SELECT sum(cost_usd) FROM app.usage_day')) - ledger) < 1e-6,
      ORPHAN_MS,
    );
  });

  it('60 s later no sandbox is without owner and no owner without sandbox', async () => {
    await until(
      'sandboxes and claims agree',
      async () => {
        const slots = await database.query<{ slot_id: string }>(
          "SELECT slot_id FROM runtime.slot WHERE state NOT IN ('gone')",
        );
        const known = new Set(slots.rows.map((row) => row.slot_id));
        const alive = new Set(
          sandboxProcesses(stack.dataDirectory)
            .filter((each) => each.kind === 'agent-server')
            .map((each) => each.slotId),
        );
        const owners = await database.query<{ count: string }>(
          "SELECT count(*) FROM app.conversation WHERE sandbox_status = 'RUNNING'",
        );
        const bound = await database.query<{ count: string }>(
          "SELECT count(*) FROM runtime.slot WHERE state IN ('bound', 'active')",
        );
        return (
          [...alive].every((slot) => known.has(slot)) &&
          [...known].every((slot) => alive.has(slot)) &&
          owners.rows[0]?.count === bound.rows[0]?.count
        );
      },
      ORPHAN_MS,
    );
  });
});
