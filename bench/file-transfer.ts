// 100 MB into a sandbox and out of it, over HTTP to action-server, beside a plain copy over HTTP by Node alone.
import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { until } from '@slipway/testing';
import { request } from 'undici';
import { startProcess } from './measure/child-process.ts';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const BUNDLE = fileURLToPath(new URL('../apps/action-server/bundle/action-server.cjs', import.meta.url));
const TOKEN = 'bench-token-of-at-least-32-characters';
const MEGABYTES = quick(100, 4);
const N = quick(7, 2);

export default async function run(report: Report): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-transfer-'));
  const [WORKSPACE_DIR, STATE_DIR] = [path.join(folder, 'workspace'), path.join(folder, 'state')];
  await mkdir(WORKSPACE_DIR);
  const source = path.join(folder, 'source');
  await writeFile(source, randomBytes(MEGABYTES * 1_000_000));
  const running = startProcess(process.execPath, [BUNDLE], {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    WORKSPACE_DIR,
    STATE_DIR,
    ACTION_SERVER_TOKEN: TOKEN,
    LOG_LEVEL: 'warn',
  });
  const plain = await plainServer(path.join(folder, 'plain'), source);
  try {
    const listening = path.join(STATE_DIR, 'action-server.json');
    await until('action-server listens', () => existsSync(listening));
    const ours = `http://127.0.0.1:${(JSON.parse(readFileSync(listening, 'utf8')) as { port: number }).port}`;
    const ways = {
      up: () => send(`${ours}/file/upload?path=copy`, source),
      'up-form': () => send(`${ours}/file/upload?path=copy`, source, 'boundary-of-the-bench'),
      down: () => receive(`${ours}/file/download?path=copy`, path.join(folder, 'back')),
      'plain-up': () => send(`${plain.url}/`, source),
      'plain-down': () => receive(`${plain.url}/`, path.join(folder, 'back')),
    };
    const speeds = new Map(Object.keys(ways).map((name) => [name, [] as number[]]));
    for (let round = 0; round <= N; round++)
      for (const [name, way] of Object.entries(ways)) {
        const started = performance.now();
        await way();
        // The first round warms up.
        if (round > 0) speeds.get(name)?.push((MEGABYTES * 1_000) / (performance.now() - started));
      }
    const median = (name: string): number => percentile(speeds.get(name) ?? [], 0.5);
    for (const name of ['up', 'up-form', 'down'])
      report.figure({ figure: name, value: median(name), unit: 'MB/s', floor: median(name === 'down' ? 'plain-down' : 'plain-up'), n: N });
  } finally {
    await running.stop();
    await plain.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function send(url: string, file: string, boundary?: string): Promise<void> {
  const bytes = createReadStream(file, { highWaterMark: 1024 * 1024 });
  const form = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n`);
    yield* bytes as AsyncIterable<Buffer>;
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  };
  const answer = await request(url, {
    method: 'POST',
    headers: { 'x-session-api-key': TOKEN, ...(boundary === undefined ? {} : { 'content-type': `multipart/form-data; boundary=${boundary}` }) },
    body: boundary === undefined ? bytes : Readable.from(form()),
  });
  await answer.body.dump();
  if (answer.statusCode >= 300) throw new Error(`the upload was answered with ${answer.statusCode}`);
}

async function receive(url: string, file: string): Promise<void> {
  const answer = await request(url, { headers: { 'x-session-api-key': TOKEN } });
  if (answer.statusCode >= 300) throw new Error(`the download was answered with ${answer.statusCode}`);
  await pipeline(answer.body, createWriteStream(file));
}

/** In this process: what the machine does without anything of ours. */
async function plainServer(target: string, source: string): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((incoming, response) => {
    const work =
      incoming.method === 'POST' ? pipeline(incoming, createWriteStream(target)).then(() => response.end()) : pipeline(createReadStream(source), response);
    work.catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
