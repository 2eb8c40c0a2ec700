import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '@slipway/telemetry';
import { until } from '@slipway/testing';
import { type PodView, readPod } from './cluster-objects.js';
import { KubeApi } from './kube-api.js';
import { fastTiming, TestApiServer } from './test-api-server.js';
import { ClusterWatch } from './watch.js';
import { WatchCache } from './watch-cache.js';

/** A second of the watch takes 20 ms. */
const SPEED = 50;
const PATH = '/api/v1/namespaces/sandboxes/pods';

describe('the watch of a cluster', () => {
  let server: TestApiServer;
  let cache: WatchCache<PodView>;
  let watch: ClusterWatch<PodView>;
  let api: KubeApi;
  let changes: number;
  let end: AbortController;
  let running: Promise<void>;
  const start = (): void => {
    const timing = fastTiming(SPEED);
    const budget = { rate: 1_000, burst: 1_000, connections: 6 };
    api = new KubeApi(
      { server: new URL(server.url), credentials: async () => ({ tls: {}, authorization: 'Bearer t' }) },
      timing,
      {
        claim: budget,
        refill: budget,
        watch: budget,
      },
    );
    const logger = createLogger('test', 'silent');
    watch = new ClusterWatch({
      api,
      path: PATH,
      labelSelector: 'a=b',
      noun: 'pods',
      read: readPod,
      cache,
      onChange: () => (changes += 1),
      timing,
      logger,
    });
    running = watch.run(end.signal);
  };
  const names = (): string =>
    [...cache.values()]
      .map((pod) => `${pod.name}@${pod.version}`)
      .sort()
      .join(' ');
  const truth = (): string =>
    [...server.items.values()]
      .map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)
      .sort()
      .join(' ');
  const inStep = (what: string, timeoutMs = 10_000): Promise<unknown> =>
    until(what, () => watch.synced && names() === truth(), timeoutMs);

  beforeEach(async () => {
    server = await new TestApiServer().start();
    cache = new WatchCache();
    changes = 0;
    end = new AbortController();
  });
  afterEach(async () => {
    end.abort();
    await running;
    api.close();
    await server.close();
  });

  it('knows what was there and what comes, changes and goes', async () => {
    for (let index = 0; index < 1_200; index += 1) server.put(`pod-${index}`);
    start();
    await inStep('the list');
    expect(cache.size).toBe(1_200);
    expect(server.requests.filter(({ url }) => url.includes('resourceVersionMatch=NotOlderThan')).length).toBe(1);
    server.put('pod-1', { status: { phase: 'Running' } });
    server.put('new');
    server.delete('pod-2');
    await inStep('the events');
    expect(cache.get('pod-1')?.phase).toBe('Running');
    expect(server.requests.at(-1)?.url).toContain('labelSelector=a%3Db');
    expect(watch.staleForMs).toBe(0);
  });

  it('reads in pages, whatever their version, when the server cannot give a whole list as new as the last', async () => {
    for (let index = 0; index < 1_200; index += 1) server.put(`pod-${index}`);
    start();
    await inStep('the list');
    server.faults.refuse = ({ isList, url }) =>
      isList && url.includes('resourceVersionMatch')
        ? {
            status: 504,
            body: { code: 504, reason: 'Timeout', message: 'Too large resource version: 99999, current: 7' },
          }
        : null;
    server.forget();
    server.items.delete('pod-7');
    server.cut();
    await until('what went unseen is gone', () => cache.size === 1_199);
    expect(server.requests.filter(({ url }) => url.includes('limit=500')).length).toBe(3);
    expect(
      server.requests.find(({ url }) => url.includes('resourceVersionMatch') && !url.includes('resourceVersion=0')),
    ).toBeDefined();
  });

  it('loses nothing to a watch that is cut every three seconds, and does not list again for it', async () => {
    server.faults.cutWatchAfterMs = 3_000 / SPEED;
    start();
    for (let round = 0; round < 40; round += 1) {
      server.put(`pod-${round % 7}`);
      if (round % 5 === 0) server.delete(`pod-${(round + 3) % 7}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await inStep('in step');
    await until('cut often', () => server.watches >= 5);
    await inStep('in step after the cuts');
    expect(watch.lists).toBe(1);
  });

  it('lists again when its position is too old, never more often than every 5 s, and can be read meanwhile', async () => {
    server.put('kept');
    start();
    await inStep('the list');
    const { watches } = server;
    server.faults.refuse = ({ isWatch }) =>
      isWatch ? { status: 410, body: { code: 410, reason: 'Expired', message: 'too old' } } : null;
    // The open watch ends, and every new one is refused.
    server.faults.listDelayMs = 40;
    server.cut();
    await until('four more lists', () => {
      expect(cache.get('kept')?.name).toBe('kept');
      return server.listTimes.length >= 5;
    });
    const gaps = server.listTimes.slice(2).map((time, index) => (time - (server.listTimes[index + 1] ?? 0)) * SPEED);
    // As the server sees it: a list may be late, so the next one seems early.
    expect(Math.min(...gaps)).toBeGreaterThan(4_000);
    server.faults.refuse = () => null;
    server.put('later');
    await inStep('in step again');
    await until('it watches again', () => server.watches > watches);
  });

  it('takes a 410 that comes as an event for what it is', async () => {
    server.put('one');
    start();
    await inStep('the list');
    server.forget();
    server.items.delete('one');
    server.cut();
    await until('what went unseen is gone', () => cache.size === 0);
    expect(watch.lists).toBe(2);
  });

  it('goes on from a bookmark: what is older than it is not asked for again', async () => {
    server.put('one');
    start();
    await inStep('the list');
    await until('a watch is open', () => server.watches === 1);
    server.bookmark();
    server.cut();
    await until('another watch', () => server.watches === 2);
    const begins = server.requests
      .filter(({ url }) => url.includes('watch=true'))
      .map(({ url }) => new URLSearchParams(url).get('resourceVersion'))
      .filter((version) => version !== null);
    expect(begins).toEqual(['101', '102']);
    expect(watch.lists).toBe(1);
  });

  it('takes a connection without events and bookmarks for dead after 90 s', async () => {
    server.put('one');
    start();
    await inStep('the list');
    await until('a watch is open', () => server.watches === 1 && watch.staleForMs === 0);
    server.faults.stall = true;
    server.put('unheard');
    const begin = performance.now();
    await until('another watch', () => server.watches >= 2);
    expect((performance.now() - begin) * SPEED).toBeGreaterThan(80_000);
    server.faults.stall = false;
    await inStep('the one that was not heard');
  });

  it('waits as long as a 429 says, and longer and longer while the server fails', async () => {
    server.put('one');
    start();
    await inStep('the list');
    let refusals = 0;
    server.faults.refuse = ({ isWatch }) => {
      if (!isWatch) return null;
      refusals += 1;
      return refusals % 3 === 0 ? { status: 429, headers: { 'retry-after': '2' } } : { status: 503 };
    };
    server.cut();
    await until(
      'the storm is felt',
      () => watch.lastError?.code === 'sandbox.cluster-unavailable' && watch.staleForMs > 20_000,
    );
    // 20 s of the watch's own time: with a constant pause of 0.1 s it would have been 200.
    expect(refusals).toBeLessThan(20);
    expect(cache.get('one')?.name).toBe('one');
    server.faults.refuse = () => null;
    server.put('two');
    await inStep('after the storm');
    await until('not stale any more', () => watch.staleForMs === 0 && watch.lastError === null);
  });

  it('is not moved by events that come twice, late or out of order', async () => {
    start();
    await until('a watch is open', () => server.watches === 1);
    server.faults.copies = 2;
    server.faults.repeatOld = true;
    for (let round = 0; round < 200; round += 1) {
      server.put(`pod-${round % 5}`);
      if (round % 3 === 0) server.delete(`pod-${(round + 1) % 5}`);
    }
    server.put('last');
    await inStep('in step');
    const before = changes;
    server.put('pod-0', { status: { phase: 'Pending' } });
    await inStep('again');
    expect(changes - before).toBeLessThanOrEqual(1);
  });
});
