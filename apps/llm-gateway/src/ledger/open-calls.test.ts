import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createLogger } from '@slipway/telemetry';
import { until } from '@slipway/testing';
import type { LedgerInput } from './ledger-entry.js';
import { OpenCallFiles } from './open-call-files.js';
import { OpenCalls, type OpenCallsOptions } from './open-calls.js';

const entry = (): LedgerInput => ({
  id: randomUUID(),
  orgId: 'org_1',
  conversationId: randomUUID(),
  keyId: 'key_1',
  userId: null,
  requestId: 'req_1',
  traceId: 'a trace',
  model: 'm'.repeat(200),
  promptTokens: 1,
  completionTokens: 1,
  cachedTokens: 0,
  usageSource: 'estimated',
  costUsd: 1,
  costKnown: true,
  status: 'failed',
  errorCode: 'service.unavailable',
  streamed: false,
  startedAt: '2026-01-01T00:00:00.000Z',
  firstByteMs: null,
  latencyMs: 0,
});

const callsWith = (more: Pick<OpenCallsOptions, 'record' | 'files'> & Partial<OpenCallsOptions>): OpenCalls =>
  new OpenCalls({
    recorded: () => Promise.resolve([]),
    ...more,
    ledger: { add: () => {}, flush: () => Promise.resolve(true) },
    replica: () => randomUUID(),
    whenAway: 'open',
    logger: createLogger('test', 'silent'),
  });

describe('calls under way with a folder', () => {
  it('are on disk until their own rows are in the ledger, whatever a crash of Postgres takes of their records', async () => {
    const directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-open-calls-'));
    try {
      const files = new OpenCallFiles(directory, (error) => expect(error).toBeNull());
      const recorded = new Set<string>();
      const calls = callsWith({
        record: (begun) => {
          for (const { entry: call } of begun) recorded.add(call.id);
          return Promise.resolve();
        },
        files,
      });
      // More than one file holds.
      const all = Array.from({ length: 4_000 }, entry);
      for (const call of all) void calls.begin(call);
      await until('Postgres has their records', () => recorded.size === all.length);
      const left = async (): Promise<Set<string>> => {
        const next = new OpenCallFiles(directory, (error) => expect(error).toBeNull());
        const found = await next.leftOver();
        return new Set((await Promise.all(found.map((file) => next.read(file)))).flat().map(({ id }) => id));
      };
      expect((await left()).size).toBe(all.length);
      calls.stored(all);
      await calls.close();
      await until('nothing is left', async () => (await left()).size === 0);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});

describe('calls under way without a folder', () => {
  it('are recorded again once a Postgres that crashed is back, and their records go when they are over', async () => {
    const stored = new Set<string>();
    let away = false;
    const calls = callsWith({
      record: async (begun, ended) => {
        if (away) throw new Error('the connection broke');
        for (const { entry: call } of begun) stored.add(call.id);
        for (const id of ended) stored.delete(id);
      },
      files: null,
    });
    const [first, second] = [entry(), entry()];
    await calls.begin(first);
    expect([...stored]).toEqual([first.id]);
    // A crash: what was not flushed is gone, and the next commit fails.
    stored.clear();
    away = true;
    await calls.begin(second);
    away = false;
    await until('both are recorded', () => stored.size === 2);
    calls.stored([first, second]);
    await until('neither is', () => stored.size === 0);
    await calls.close();
  });

  it('lose the records of calls that are over although a crash of Postgres brought them back, and keep those of calls under way', async () => {
    const stored = new Set<string>();
    const calls = callsWith({
      record: async (begun, ended) => {
        for (const { entry: call } of begun) stored.add(call.id);
        for (const id of ended) stored.delete(id);
      },
      recorded: () => Promise.resolve([...stored]),
      files: null,
    });
    const [over, underWay] = [entry(), entry()];
    await calls.begin(over);
    await calls.begin(underWay);
    calls.stored([over]);
    await until('its record is removed', () => !stored.has(over.id));
    // The removal was not flushed when Postgres crashed, and no commit failed meanwhile.
    stored.add(over.id);
    await calls.removeForgotten();
    await until('its record is removed again', () => !stored.has(over.id));
    expect([...stored]).toEqual([underWay.id]);
    await calls.close();
  });
});
