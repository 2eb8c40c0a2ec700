import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { StartStep } from '@slipway/contracts/conversations';
import { freePort, SilentProxy, stopwatch, until } from '@slipway/testing';
import { type Harness, ORG, openHarness, SECRET } from './testing/harness.js';

const SILENCE_MS = 3_000;
const RECOVERY_MS = 5_000;

/** A worker as a process of its own, and a network between it and runtime-api that is cut without a word to either. */
jest.setTimeout(180_000);

describe('worker cut off from runtime-api', () => {
  let harness: Harness;
  let proxy: SilentProxy;
  let child: ChildProcess;
  beforeAll(async () => {
    harness = await openHarness();
    proxy = await SilentProxy.open(harness.peers.runtimeUrl);
    const port = await freePort();
    child = fork(fileURLToPath(new URL('./main.js', import.meta.url)), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: {
        PATH: process.env['PATH'],
        LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'silent',
        PORT: String(port),
        METRICS_PORT: '0',
        DATABASE_URL: harness.database.urls.app,
        ENCRYPTION_KEY: SECRET,
        INGEST_SECRET: SECRET,
        RUNTIME_API_URL: proxy.url.replace(/\/$/, ''),
        RUNTIME_API_KEY: SECRET,
        LLM_GATEWAY_URL: harness.peers.gatewayUrl,
        LLM_GATEWAY_MASTER_KEY: SECRET,
        SANDBOX_INGEST_URL: 'http://127.0.0.1:1',
        SANDBOX_LLM_URL: 'http://127.0.0.1:1',
      },
    });
    await until('the worker is ready', async () => (await fetch(`http://127.0.0.1:${port}/ready`)).ok, 20_000);
  });
  afterAll(async () => {
    if (child?.exitCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await proxy?.close();
    await harness?.close();
  });

  const add = (id: string): Promise<void> =>
    harness.queue.add('conversation-start', { orgId: ORG, conversationId: id }, { key: id });
  const isReady = async (id: string): Promise<boolean> => {
    const row = await harness.row(id);
    return row.startStatus === 'READY' && row.sandboxStatus === 'RUNNING' && (await harness.jobs(id)).length === 0;
  };
  const stepsOf = async (id: string): Promise<StartStep[]> =>
    (await harness.log(id)).filter((event) => event.key === 'start_task').map((event) => event.value as StartStep);

  it('a start waits in its step whether its claim or the answer is under way, goes on within 5 s of the end, and nothing is doubled; one that runs takes messages meanwhile', async () => {
    const runs = await harness.create();
    await add(runs.id);
    await until('one runs', () => isReady(runs.id));

    const answered = await harness.create();
    let cutAt = 0;
    harness.peers.onRequest = (request, moment) => {
      if (request !== 'runtime POST /start' || moment !== 'after' || cutAt > 0) return;
      // The sandbox is claimed, and its worker does not hear of it.
      proxy.silence();
      cutAt = performance.now();
    };
    await add(answered.id);
    await until('the network is cut', () => cutAt > 0);
    const asking = await harness.create();
    await add(asking.id);
    const more = await harness.send(runs.id, 'while the network is cut');
    await add(runs.id);

    await until(
      'the one that runs has its message',
      () => harness.peers.messagesOf(runs.id).includes(more),
      SILENCE_MS,
    );
    for (const { id } of [answered, asking])
      await until(
        'the start waits for its sandbox',
        async () => (await harness.row(id)).startStatus === 'WAITING_FOR_SANDBOX',
      );
    await until('the cut has lasted', () => performance.now() - cutAt >= SILENCE_MS);
    for (const { id } of [answered, asking]) {
      expect((await stepsOf(id)).at(-1)).toMatchObject({ status: 'WAITING_FOR_SANDBOX', state: 'running', attempt: 1 });
      expect(harness.peers.messagesOf(id)).toEqual([]);
    }
    expect([harness.peers.claims.get(answered.id), harness.peers.claims.get(asking.id)]).toEqual([1, undefined]);

    const passed = stopwatch();
    proxy.heal();
    for (const { id } of [answered, asking]) await until('the start ends', () => isReady(id), RECOVERY_MS);
    expect(passed()).toBeLessThan(RECOVERY_MS);
    process.stderr.write(
      `two starts cut off from runtime-api for ${SILENCE_MS} ms: both ended ${Math.round(passed())} ms after the end\n`,
    );
    for (const { id, message } of [answered, asking]) {
      const log = await harness.log(id);
      expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
      expect(log.filter(({ kind }) => kind === 'MessageEvent').map((event) => event.id)).toEqual([message]);
      expect(harness.peers.claims.get(id)).toBe(1);
      expect((await harness.row(id)).attempt).toBe(1);
      expect((await stepsOf(id)).filter(({ state }) => state === 'failed')).toEqual([]);
    }
    expect(harness.peers.messagesOf(runs.id)).toEqual([runs.message, more]);
  });
});
