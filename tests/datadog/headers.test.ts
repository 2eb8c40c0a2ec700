import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { freePort, until } from '@slipway/testing';
import { skipTest } from '@slipway/testing/jest';
import { TestAgent } from './test-agent.ts';
import { TracedBundles } from './traced-bundles.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CLICK = { traceparent: `00-${TRACE}-b7ad6b7169203331-01`, tracestate: 'dd=s:2', baggage: 'user.id=mallory' };

/** Path and trace headers of each request that came, each header as often as it was sent. */
interface Received {
  readonly path: string;
  readonly names: readonly string[];
  readonly traceparents: readonly string[];
}

jest.setTimeout(180_000);

describe('the trace of a request', () => {
  let bundles: TracedBundles;
  let file: string;
  let peer: Server;
  let received: Received[] = [];
  const running: ChildProcess[] = [];
  beforeAll(async () => {
    bundles = await TracedBundles.make();
    file = await bundles.add('probe', 'tests/datadog/probe-process.ts');
    peer = createServer((request, response) => {
      const pairs = request.rawHeaders.flatMap((name, index, all) =>
        index % 2 === 0 ? [[name.toLowerCase(), all[index + 1] ?? ''] as const] : [],
      );
      received.push({
        path: request.url ?? '',
        names: pairs.map(([name]) => name).filter((name) => /trace|datadog|baggage|b3/.test(name)),
        traceparents: pairs.filter(([name]) => name === 'traceparent').map(([, value]) => value),
      });
      response.end('{}');
    });
    await new Promise<void>((resolve) => peer.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    for (const child of running) if (child.exitCode === null) child.kill('SIGKILL');
    peer?.close();
    bundles?.remove();
  });

  const start = async (
    env: Readonly<Record<string, string>>,
  ): Promise<{ url: string; child: ChildProcess; lines: () => string }> => {
    const port = await freePort();
    const child = spawn(process.execPath, [file], {
      env: { PATH: process.env['PATH'], PORT: String(port), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.push(child);
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part: Buffer) => (said += String(part)));
    const url = `http://127.0.0.1:${port}`;
    await until('the probe answers', async () => (await fetch(`${url}/alive`)).ok, 30_000);
    return { url, child, lines: () => said };
  };
  const peerUrl = (): string => `http://127.0.0.1:${(peer.address() as AddressInfo).port}`;
  const stopped = async (child: ChildProcess): Promise<number | null> => {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    return ((await ended) as [number | null])[0];
  };

  for (const tracer of ['off', 'on'] as const) {
    it(`goes to a peer in exactly one header of each client, and to a stranger in none, with a tracer ${tracer}`, async () => {
      const { url, child } = await start(
        tracer === 'on' ? bundles.environment('app-server', 'http://127.0.0.1:9', 1) : {},
      );
      for (const client of ['fetch', 'undici', 'http']) {
        received = [];
        await fetch(`${url}/call/${client}?to=${peerUrl()}`, { headers: CLICK });
        expect([client, received]).toEqual([
          client,
          [
            {
              path: '/peer',
              names: ['traceparent'],
              traceparents: [expect.stringMatching(`^00-${TRACE}-(?!b7ad6b7169203331)[0-9a-f]{16}-01$`)],
            },
            { path: '/stranger', names: [], traceparents: [] },
          ],
        ]);
      }
      // The agent is absent: the exit is clean and in time all the same.
      expect(await stopped(child)).toBe(0);
    });
  }

  it('makes no span for a request that is not sampled, nor for its job, and its peers make none', async () => {
    const agent = await TestAgent.start();
    if ('missing' in agent) return skipTest(agent.missing);
    try {
      const { url, child, lines } = await start(bundles.environment('app-server', agent.url, 0));
      received = [];
      await fetch(`${url}/call/undici?to=${peerUrl()}`, { headers: CLICK });
      expect(received[0]?.traceparents).toEqual([
        expect.stringMatching(`^00-${TRACE}-(?!b7ad6b7169203331)[0-9a-f]{16}-00$`),
      ]);
      await fetch(`${url}/fail`);
      await fetch(`${url}/job`, { headers: CLICK });
      expect(await stopped(child)).toBe(0);
      expect(lines()).toContain(`"trace_id":"${TRACE}"`);
      expect(lines()).not.toContain('"dd":');
      expect(await agent.spans()).toEqual([]);
    } finally {
      agent.stop();
    }
  });

  it('keeps the id that a stranger sent, twice or with a huge baggage, and not their sampling flag', async () => {
    const agent = await TestAgent.start();
    if ('missing' in agent) return skipTest(agent.missing);
    try {
      const env = {
        ...bundles.environment('app-server', agent.url, 0),
        DD_PROFILING_ENABLED: 'true',
        SLIPWAY_TRACES_KEEP_FAILURES: 'true',
      };
      const { url, child, lines } = await start(env);
      const answer = await fetch(`${url}/call/fetch?to=${peerUrl()}`, {
        headers: {
          ...CLICK,
          traceparent: `${CLICK.traceparent}, 00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
          baggage: `a=${'x'.repeat(10_000)}`,
        },
      });
      expect(answer.status).toBe(200);
      await fetch(`${url}/fail?code=of-a-sign-in`, {
        headers: { 'user-agent': 'of-a-user', traceparent: `00-${'2'.repeat(32)}-${'3'.repeat(16)}-01` },
      });
      await fetch(`${url}/job`);
      expect(await stopped(child)).toBe(0);
      expect(lines()).toContain(`"trace_id":"${TRACE}"`);
      // The images have no profiler, and say so.
      expect(lines()).toContain('"service":"app-server","message":"profiling is on, and this image has no profiler');
      const spans = await agent.spans();
      const decided = Object.fromEntries(
        spans.map(({ name, meta, metrics }) => [
          `${name} ${meta['http.route'] ?? ''}`,
          metrics['_sampling_priority_v1'],
        ]),
      );
      // A failure is kept whatever the rate, where the installation pays for that.
      expect(decided['fastify.request /call/:client']).toBeUndefined();
      expect(decided['fastify.request /fail']).toBe(2);
      expect(decided['fastify.request /job']).toBe(2);
      expect(spans.find(({ name }) => name === 'job')).toMatchObject({
        error: 1,
        meta: { 'error.type': 'TypeError', 'slipway.kind': 'test' },
      });
      for (const { meta } of spans)
        expect(JSON.stringify(meta)).not.toMatch(/mallory|xxxx|a prompt|of-a-sign-in|of-a-user|\.js:\d|stranger/);
    } finally {
      agent.stop();
    }
  });
});
