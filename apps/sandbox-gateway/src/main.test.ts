import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort, until } from '@slipway/testing';
import { request } from 'undici';
import { WebSocket } from 'ws';
import { type Grant, TestGateway } from './testing/test-gateway.js';

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url));
const DRAIN_SECONDS = 2;

interface Running {
  readonly child: ChildProcess;
  readonly url: string;
  readonly exit: Promise<number | null>;
}

describe('the process', () => {
  let world: TestGateway;
  let grant: Grant;
  const started: ChildProcess[] = [];
  beforeAll(async () => {
    world = await TestGateway.start();
    grant = await world.grant();
  });
  afterAll(async () => {
    for (const child of started) child.kill('SIGKILL');
    await world.close();
  });

  const start = async (): Promise<Running> => {
    const port = await freePort();
    const env = {
      ...world.env,
      PORT: String(port),
      METRICS_PORT: '0',
      DRAIN_SECONDS: String(DRAIN_SECONDS),
      LOG_LEVEL: 'warn',
    };
    const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'inherit', 'inherit'] });
    started.push(child);
    const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
    const url = `http://127.0.0.1:${port}`;
    await until('it is ready', async () => (await statusOf(url, '/ready')) === 200);
    return { child, url, exit };
  };
  const headers = (): Record<string, string> => ({ host: grant.host, authorization: `Bearer ${grant.token}` });
  const socket = async (url: string, path: string, sent: Record<string, string>): Promise<WebSocket> => {
    const opened = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers: sent });
    await once(opened, 'open');
    return opened;
  };
  /** Close code, and when it came after `began`. Milliseconds. */
  const closed = async (one: WebSocket, began: number): Promise<[number, number]> => [
    ((await once(one, 'close')) as [number])[0],
    performance.now() - began,
  ];

  it('is not ready on SIGTERM, serves as before, sends its sockets elsewhere one after the other, and lets an answer under way end well', async () => {
    const { child, url, exit } = await start();
    const tunnels = await Promise.all(Array.from({ length: 6 }, () => socket(url, '/terminal', headers())));
    await world.pays(grant);
    const firstFrame = await socket(url, '/sockets/events/x', { host: grant.host });
    firstFrame.send(JSON.stringify({ type: 'auth', session_api_key: grant.token }));
    firstFrame.send('hello');
    await once(firstFrame, 'message');
    let answer: ServerResponse | undefined;
    world.upstream.handler = (_request, response) => {
      answer = response;
      response.write('first, ');
    };
    const download = await request(`${url}/download`, { headers: headers() });
    world.upstream.handler = (_request, response) => void response.end('hello');

    const began = performance.now();
    const ends = Promise.all([...tunnels, firstFrame].map((one) => closed(one, began)));
    child.kill('SIGTERM');
    await until('it says that it is not ready', async () => (await statusOf(url, '/ready')) === 503);
    expect(await statusOf(url, '/', headers())).toBe(200);
    const codes = await ends;
    expect(codes.map(([code]) => code)).toEqual(codes.map(() => 1012));
    const times = codes.map(([, ms]) => ms).sort((one, other) => one - other);
    expect(times[0]).toBeGreaterThan(DRAIN_SECONDS * 450);
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(DRAIN_SECONDS * 100);
    await expect(socket(url, '/terminal', headers())).rejects.toThrow(/503|ECONNREFUSED/);
    await until(
      'it takes no connection any more',
      async () => (await statusOf(url, '/alive').catch(() => 'gone')) === 'gone',
    );
    answer?.end('second');
    expect(await download.body.text()).toBe('first, second');
    expect(await exit).toBe(0);
  });

  it('with a wrong configuration does not start, and names the variables without their values', async () => {
    const child = spawn(process.execPath, [MAIN], {
      env: { SANDBOX_ACCESS_SECRET: 'too-short-secret' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    started.push(child);
    let text = '';
    const read = (part: Buffer): void => {
      text += part.toString();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    const [code] = (await once(child, 'close')) as [number];
    expect(code).not.toBe(0);
    expect(text).toContain('SANDBOX_ACCESS_SECRET');
    expect(text).toContain('DATABASE_URL');
    expect(text).not.toContain('too-short-secret');
  });
});

describe('a gateway that ends', () => {
  it('breaks off what does not end in time: an answer under way with its connection, one that has not begun with 503', async () => {
    const world = await TestGateway.start();
    try {
      const grant = await world.grant();
      const headers = { host: grant.host, authorization: `Bearer ${grant.token}` };
      world.upstream.handler = (asked, response) => void (asked.url === '/begun' && response.write('some'));
      const begun = await world.request('/begun', { headers });
      const silent = world.request('/silent', { headers });
      await until('both are with the sandbox', () => world.upstream.seen.length === 2);
      world.gateway.breakOff();
      await expect(begun.body.text()).rejects.toThrow();
      const { statusCode, body } = await silent;
      expect([statusCode, ((await body.json()) as { code: string }).code]).toEqual([503, 'service.unavailable']);
    } finally {
      await world.close();
    }
  });
});

async function statusOf(url: string, path: string, headers: Record<string, string> = {}): Promise<number> {
  const { statusCode, body } = await request(`${url}${path}`, {
    headers,
    reset: true,
    signal: AbortSignal.timeout(5_000),
  });
  await body.dump();
  return statusCode;
}
