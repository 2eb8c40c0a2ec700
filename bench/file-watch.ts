// From a write in the sandbox to the message at a user's client, over agent-server and action-server: a file that is
// open, and a name in a directory that is, of 10 and of 100,000 entries.
import { appendFileSync, existsSync, mkdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type FilesLiveMessage, type FilesLiveRequest, LIVE_OPEN } from '@slipway/contracts/live';
import { until } from '@slipway/testing';
import { WebSocket } from 'undici';
import { ACTION_SERVER_TOKEN, startAgentServer } from './measure/agent-server.ts';
import { startProcess } from './measure/child-process.ts';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const BUNDLE = fileURLToPath(new URL('../apps/action-server/bundle/action-server.cjs', import.meta.url));
const N = quick(300, 5);
const N_LARGE = quick(15, 1);
const LARGE = quick(100_000, 1000);
/** Between two writes: as long as a user would take to read. Milliseconds. */
const PAUSE_MS = 60;
/** A directory of 100,000 names is not read more than a fifth of the time. Milliseconds. */
const PAUSE_LARGE_MS = 1_500;

export default async function run(report: Report): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-watch-'));
  const [workspace, STATE_DIR] = [path.join(folder, 'workspace'), path.join(folder, 'state')];
  await mkdir(workspace);
  const tools = startProcess(process.execPath, [BUNDLE], {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    WORKSPACE_DIR: workspace,
    STATE_DIR,
    ACTION_SERVER_TOKEN,
    LOG_LEVEL: 'warn',
  });
  try {
    const listening = path.join(STATE_DIR, 'action-server.json');
    await until('action-server listens', () => existsSync(listening));
    const { port } = JSON.parse(readFileSync(listening, 'utf8')) as { port: number };
    const agent = await startAgentServer(10, `http://127.0.0.1:${port}`);
    try {
      await agent.activate();
      await measure(report, workspace, await connect(agent.url, agent.sessionKey));
    } finally {
      await agent.stop();
    }
  } finally {
    await tools.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Client {
  send(message: FilesLiveRequest): void;
  /** The next message for which this holds, of those that come from now on. */
  next(holds: (message: FilesLiveMessage) => boolean): Promise<FilesLiveMessage>;
}

async function connect(url: string, sessionKey: string): Promise<Client> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/sockets/live/files`);
  let listener: (message: FilesLiveMessage) => void = () => {};
  let stands: () => void = () => {};
  const open = new Promise<void>((resolve, reject) => {
    stands = resolve;
    socket.onclose = ({ code, reason }) => reject(new Error(`the channel was closed: ${code} ${reason}`));
  });
  socket.onopen = () => socket.send(JSON.stringify({ type: 'auth', session_api_key: sessionKey }));
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(String(data)) as FilesLiveMessage | typeof LIVE_OPEN;
    if (message.type === LIVE_OPEN.type) stands();
    else listener(message);
  };
  await open;
  return {
    send: (message) => socket.send(JSON.stringify(message)),
    next: (holds) =>
      new Promise((resolve) => {
        listener = (message) => {
          if (holds(message)) resolve(message);
        };
      }),
  };
}

async function measure(report: Report, workspace: string, client: Client): Promise<void> {
  const file = path.join(workspace, 'open.txt');
  writeFileSync(file, 'begin\n');
  const opened = client.next(({ type }) => type === 'file');
  client.send({ type: 'open', id: 1, path: 'open.txt' });
  await opened;
  let shownAt = 0;
  const watcher = watch(workspace, () => {
    shownAt ||= performance.now();
  });
  const [ours, floor]: [number[], number[]] = [[], []];
  for (let index = 0; index < N; index += 1) {
    await wait(PAUSE_MS);
    const text = `line ${index}\n`;
    const arrived = client.next(
      (message) => message.type === 'file' && message.file.kind === 'text' && message.file.text.endsWith(text),
    );
    shownAt = 0;
    const began = performance.now();
    appendFileSync(file, text);
    await arrived;
    ours.push(performance.now() - began);
    floor.push((shownAt || performance.now()) - began);
  }
  watcher.close();
  report.figure({ figure: 'file-p50', value: percentile(ours, 0.5), unit: 'ms', floor: percentile(floor, 0.5), n: N });
  report.figure({
    figure: 'file-p99',
    value: percentile(ours, 0.99),
    unit: 'ms',
    floor: percentile(floor, 0.99),
    n: N,
  });
  for (const [figure, entries, n, pause] of [
    ['name', 10, N, PAUSE_MS],
    ['name-of-100000', LARGE, N_LARGE, PAUSE_LARGE_MS],
  ] as const) {
    const directory = path.join(workspace, figure);
    mkdirSync(directory);
    for (let index = 0; index < entries; index += 1) writeFileSync(path.join(directory, `file-${index}`), '');
    const samples = await names(client, directory, figure, n, pause);
    report.figure({ figure: `${figure}-p50`, value: percentile(samples, 0.5), unit: 'ms', n });
    report.figure({ figure: `${figure}-p99`, value: percentile(samples, 0.99), unit: 'ms', n });
  }
  report.note(
    'a name is there when the page that it is on has been read again, with what git ignores; must: 300 ms on the screen',
  );
}

/** A new name, until its page is at the client. */
async function names(client: Client, directory: string, asked: string, n: number, pause: number): Promise<number[]> {
  let id = 10;
  const list = async (): Promise<FilesLiveMessage> => {
    id += 1;
    const listed = client.next((message) => message.type === 'listed' && message.id === id);
    client.send({ type: 'list', id, path: asked, offset: 0, limit: 200 });
    return listed;
  };
  await list();
  const samples: number[] = [];
  for (let index = 0; index < n; index += 1) {
    await wait(pause);
    const name = `a-${String(n - index).padStart(4, '0')}`;
    const changed = client.next((message) => message.type === 'directory-changed' && message.path === asked);
    const began = performance.now();
    writeFileSync(path.join(directory, name), '');
    await changed;
    const listed = await list();
    samples.push(performance.now() - began);
    if (listed.type !== 'listed' || !listed.entries.some((entry) => entry.name === name))
      throw new Error(`${name} is not in the page that was read`);
  }
  return samples;
}
