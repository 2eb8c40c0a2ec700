import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { ConversationEvent } from '@slipway/contracts/events';
import { until } from '@slipway/testing';
import fc from 'fast-check';
import { EventLog } from '../log/event-log.js';
import { type AppFault, TestApp } from '../testing/test-app.js';
import { IngestClient } from './ingest-client.js';
import { MAX_UNACKED_EVENTS, Outbox } from './outbox.js';

function message(text: string): ConversationEvent {
  return {
    id: randomUUID(),
    timestamp: new Date().toISOString(),
    source: 'user',
    kind: 'MessageEvent',
    llm_message: { role: 'user', content: [{ type: 'text', text }] },
  };
}

const warnings: string[] = [];
function open(
  log: EventLog,
  app: TestApp,
  firstIndex: number,
  more: { epoch?: number; ackedBefore?: number; heartbeatMs?: number; onFenced?: () => void } = {},
): Outbox {
  return new Outbox({
    log,
    firstIndex,
    ackedBefore: more.ackedBefore ?? 0,
    epoch: more.epoch ?? app.epoch,
    client: new IngestClient(app.url, 'token'),
    traceparent: () => '00-0-0-01',
    random: Math.random,
    warn: (_fields, text) => void warnings.push(text),
    onFenced: more.onFenced ?? (() => {}),
    onAcked: () => {},
    ...(more.heartbeatMs === undefined ? {} : { heartbeatMs: more.heartbeatMs }),
  });
}

async function withLog(work: (directory: string, app: TestApp) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-outbox-'));
  const app = await new TestApp().start();
  try {
    await work(directory, app);
  } finally {
    await app.close();
    await rm(directory, { recursive: true, force: true });
  }
}

describe('the outbox', () => {
  it('brings each event to the app once and in order, under any schedule of failures, restarts and takeovers', async () => {
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.record({ write: fc.integer({ min: 1, max: 30 }) }) },
      {
        weight: 4,
        arbitrary: fc.record({
          fault: fc.constantFrom<AppFault>('error-500', 'cut', 'lost-ack', 'rate-limited', 'hang-then-cut'),
        }),
      },
      { weight: 2, arbitrary: fc.constant('restart' as const) },
      { weight: 1, arbitrary: fc.constant('platform-event' as const) },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 14 }),
        fc.constantFrom('same epoch', 'next epoch'),
        (steps, life) =>
          withLog(async (directory, app) => {
            const written: string[] = [];
            let log = await EventLog.open(directory);
            let outbox = open(log, app, 0);
            for (const item of steps) {
              if (item === 'restart') {
                // As after kill -9: what the old process had under way is gone, and the file stays.
                await outbox.close();
                await log.dispose();
                if (life === 'next epoch') app.nextEpoch();
                log = await EventLog.open(directory);
                const client = new IngestClient(app.url, 'token');
                const signal = AbortSignal.timeout(30_000);
                const ackedBefore = await until('the position', () =>
                  client.position(app.epoch, signal).then((acked) => ({ acked })),
                );
                outbox = open(log, app, await log.rebase(await client.history(signal)), {
                  ackedBefore: ackedBefore.acked,
                });
              } else if (item === 'platform-event') app.append(message('from the platform'));
              else if ('fault' in item) app.fail(item.fault);
              else {
                const events = Array.from({ length: item.write }, (_, index) => message(String(index)));
                written.push(...events.map((event) => event.id));
                await log.append(events);
              }
            }
            await outbox.flushed(AbortSignal.timeout(30_000));
            const sandboxEvents = app.events.filter(
              (event) => event.kind === 'MessageEvent' && event.llm_message.content[0]?.text !== 'from the platform',
            );
            expect(sandboxEvents.map((event) => event.id)).toEqual(written);
            expect(app.lines.map((line) => line.seq)).toEqual(app.lines.map((_, index) => index + 1));
            await outbox.close();
            await log.dispose();
          }),
      ),
      { numRuns: 40 },
    );
  });

  it('makes the agent wait when the app does not acknowledge, and drops nothing', async () => {
    await withLog(async (directory, app) => {
      app.silent = true;
      const log = await EventLog.open(directory);
      const outbox = open(log, app, 0);
      await outbox.room(AbortSignal.timeout(10_000));
      await log.append(Array.from({ length: MAX_UNACKED_EVENTS + 1 }, () => message('x')));
      await expect(outbox.room(AbortSignal.timeout(50))).rejects.toThrow();
      await outbox.close();
      app.silent = false;
      const again = open(log, app, 0);
      await again.room(AbortSignal.timeout(30_000));
      await again.flushed(AbortSignal.timeout(30_000));
      expect(app.lines).toHaveLength(MAX_UNACKED_EVENTS + 1);
      await again.close();
      await log.dispose();
    });
  });

  it('stops for good when another sandbox owns the conversation', async () => {
    await withLog(async (directory, app) => {
      const log = await EventLog.open(directory);
      let fenced = 0;
      const outbox = open(log, app, 0, {
        onFenced: () => {
          fenced += 1;
        },
      });
      await log.append([message('mine')]);
      await outbox.flushed(AbortSignal.timeout(30_000));
      app.nextEpoch();
      await log.append([message('late')]);
      await until('the fence', () => fenced === 1);
      await log.append([message('later')]);
      await outbox.close();
      expect(app.lines).toHaveLength(1);
      expect(fenced).toBe(1);
      await log.dispose();
    });
  });

  it('renews the lease when it has no events', async () => {
    await withLog(async (directory, app) => {
      const log = await EventLog.open(directory);
      const outbox = open(log, app, 0, { heartbeatMs: 20 });
      await until('three heartbeats', () => app.batches.filter((batch) => batch.size === 0).length >= 3);
      await outbox.close();
      await log.dispose();
    });
  });

  it('sends what accumulated while a batch was under way as one batch', async () => {
    await withLog(async (directory, app) => {
      const log = await EventLog.open(directory);
      const outbox = open(log, app, 0);
      app.fail('held');
      for (let index = 0; index < 40; index += 1) await log.append([message(String(index))]);
      app.letGo();
      await outbox.flushed(AbortSignal.timeout(30_000));
      expect(app.lines).toHaveLength(40);
      expect(app.batches.filter((batch) => batch.size > 0).length).toBeLessThan(10);
      await outbox.close();
      await log.dispose();
    });
  });
});
