// 100 MB into a sandbox and out of it, over HTTP to action-server and, as clients do it, through agent-server, beside a
// plain copy over HTTP by Node alone and the same by OpenHands' agent server; then all of it again while every core is
// busy with something else.
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
import { startAgentServer, ACTION_SERVER_TOKEN as TOKEN } from './measure/agent-server.ts';
import { busyCores } from './measure/busy-cores.ts';
import { startProcess } from './measure/child-process.ts';
import { openhandsServerEnvironment, startOpenHandsServer } from './measure/openhands-server.ts';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const BUNDLE = fileURLToPath(new URL('../apps/action-server/bundle/action-server.cjs', import.meta.url));
const MEGABYTES = quick(100, 4);
const N = quick(7, 2);
const BOUNDARY = 'boundary-of-the-bench';

type Way = () => Promise<void>;

export default async function run(report: Report): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-transfer-'));
  const [WORKSPACE_DIR, STATE_DIR] = [path.join(folder, 'workspace'), path.join(folder, 'state')];
  await mkdir(WORKSPACE_DIR);
  const source = path.join(folder, 'source');
  const back = path.join(folder, 'back');
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
  const closing: (() => Promise<void>)[] = [() => running.stop(), () => plain.close()];
  try {
    const listening = path.join(STATE_DIR, 'action-server.json');
    await until('action-server listens', () => existsSync(listening));
    const tools = `http://127.0.0.1:${(JSON.parse(readFileSync(listening, 'utf8')) as { port: number }).port}`;
    const sandbox = await startAgentServer(1, tools);
    closing.push(() => sandbox.stop());
    await sandbox.activate();
    const ways: Record<string, Way> = {
      up: () => send(`${tools}/file/upload?path=copy`, source),
      'up-form': () => send(`${tools}/file/upload?path=copy`, source, { boundary: BOUNDARY }),
      down: () => receive(`${tools}/file/download?path=copy`, back),
      'sandbox-up': () =>
        send(`${sandbox.url}/api/file/upload?path=copy`, source, { key: sandbox.sessionKey, boundary: BOUNDARY }),
      'sandbox-down': () => receive(`${sandbox.url}/api/file/download?path=copy`, back, sandbox.sessionKey),
      'plain-up': () => send(`${plain.url}/`, source),
      'plain-down': () => receive(`${plain.url}/`, back),
    };
    const environment = await openhandsServerEnvironment();
    if ('missing' in environment) report.note(`The peer is not measured: ${environment.missing}`);
    else {
      const peer = await startOpenHandsServer(environment);
      closing.push(() => peer.stop());
      const target = `path=${encodeURIComponent(path.join(folder, 'peer'))}`;
      ways['peer-up'] = () =>
        send(`${peer.url}/api/file/upload?${target}`, source, { key: peer.sessionKey, boundary: BOUNDARY });
      ways['peer-down'] = () => receive(`${peer.url}/api/file/download?${target}`, back, peer.sessionKey);
    }
    tell(report, await rounds(ways), '');
    const busy = busyCores();
    try {
      tell(report, await rounds(ways), '-busy');
    } finally {
      await busy.stop();
    }
  } finally {
    for (const close of closing.reverse()) await close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** MB/s of each way, in turn. */
async function rounds(ways: Readonly<Record<string, Way>>): Promise<ReadonlyMap<string, number[]>> {
  const speeds = new Map(Object.keys(ways).map((name) => [name, [] as number[]]));
  for (let round = 0; round <= N; round++)
    for (const [name, way] of Object.entries(ways)) {
      const started = performance.now();
      await way();
      // The first round warms up.
      if (round > 0) speeds.get(name)?.push((MEGABYTES * 1_000) / (performance.now() - started));
    }
  return speeds;
}

function tell(report: Report, speeds: ReadonlyMap<string, number[]>, suffix: string): void {
  const median = (name: string): number | undefined => {
    const found = speeds.get(name);
    return found === undefined ? undefined : percentile(found, 0.5);
  };
  for (const name of ['up', 'up-form', 'down', 'sandbox-up', 'sandbox-down']) {
    const way = name.endsWith('down') ? 'down' : 'up';
    const peer = name.startsWith('sandbox') ? median(`peer-${way}`) : undefined;
    const [value = 0, floor = 0] = [median(name), median(`plain-${way}`)];
    report.figure({
      figure: `${name}${suffix}`,
      value,
      unit: 'MB/s',
      floor,
      ...(peer === undefined ? {} : { peer }),
      n: N,
    });
  }
}

async function send(
  url: string,
  file: string,
  { key = TOKEN, boundary }: { key?: string; boundary?: string } = {},
): Promise<void> {
  const bytes = createReadStream(file, { highWaterMark: 1024 * 1024 });
  const form = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n`);
    yield* bytes as AsyncIterable<Buffer>;
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  };
  const answer = await request(url, {
    method: 'POST',
    headers: {
      'x-session-api-key': key,
      ...(boundary === undefined ? {} : { 'content-type': `multipart/form-data; boundary=${boundary}` }),
    },
    body: boundary === undefined ? bytes : Readable.from(form()),
  });
  await answer.body.dump();
  if (answer.statusCode >= 300) throw new Error(`the upload was answered with ${answer.statusCode}`);
}

async function receive(url: string, file: string, key: string = TOKEN): Promise<void> {
  const answer = await request(url, { headers: { 'x-session-api-key': key } });
  if (answer.statusCode >= 300) throw new Error(`the download was answered with ${answer.statusCode}`);
  await pipeline(answer.body, createWriteStream(file));
}

/** In this process: what the machine does without anything of ours. */
async function plainServer(target: string, source: string): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((incoming, response) => {
    const work =
      incoming.method === 'POST'
        ? pipeline(incoming, createWriteStream(target)).then(() => response.end())
        : pipeline(createReadStream(source), response);
    work.catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
