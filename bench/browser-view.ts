// The view of the agent's browser: from the paint of a page until a watcher has the frame, and frames a second, beside
// Chromium's own screencast.
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { decodeBrowserFrame } from '@slipway/contracts/live';
import { until } from '@slipway/testing';
import { WebSocket } from 'ws';
import { findChromium, launchChromium } from '../tests/e2e/browser.ts';
import { ACTION_SERVER_TOKEN, type BenchAgentServer, startAgentServer } from './measure/agent-server.ts';
import { startProcess } from './measure/child-process.ts';
import { percentile } from './measure/percentile.ts';
import { NEEDS_CHROMIUM, quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const BUNDLE = fileURLToPath(new URL('../apps/action-server/bundle/action-server.cjs', import.meta.url));
const WARM_UP_MS = quick(1_500, 500);
const MEASURED_MS = quick(6_000, 1000);
const WATCHERS = quick([1, 5], [1]);
/** As much text and movement as a dev server's page has: half of the picture changes sixty times a second. */
const PAGE = `<title>Moving</title><body style="margin:0;font:14px monospace"><pre style="position:fixed;left:660px">${'The quick brown fox jumps over the lazy dog. 0123456789\n'.repeat(40)}</pre>
  <div id=a style="width:640px;height:800px"></div><script>let n=0;const f=()=>{n+=1;a.style.background='hsl('+n%360+' 60% 60%)';a.textContent=n;requestAnimationFrame(f)};f()</script>`;

/** What came while it was measured. */
interface Seen {
  /** From the paint to here, by the machine's one clock. Milliseconds. */
  readonly latencies: number[];
  readonly perSecond: number;
}

export default async function run(report: Report): Promise<void> {
  const program = findChromium();
  if (program === null) return report.note(NEEDS_CHROMIUM);
  const pages = createServer(
    (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE),
  ).listen(0, '127.0.0.1');
  await once(pages, 'listening');
  const url = `http://127.0.0.1:${(pages.address() as AddressInfo).port}/`;
  try {
    const raw = await rawScreencast(program, url);
    for (const watchers of WATCHERS) {
      const ours = await throughTheView(url, watchers);
      for (const [name, fraction] of [
        ['p50', 0.5],
        ['p99', 0.99],
      ] as const)
        report.figure({
          figure: `${name}-${watchers}`,
          value: percentile(ours.latencies, fraction),
          unit: 'ms',
          floor: percentile(raw.latencies, fraction),
          n: ours.latencies.length,
        });
      report.figure({
        figure: `frames-${watchers}`,
        value: ours.perSecond,
        unit: '1/s',
        floor: raw.perSecond,
        n: ours.latencies.length,
      });
    }
    report.note('frames: thirty a second is the most that the view asks of Chromium, the floor has no such limit');
  } finally {
    pages.closeAllConnections();
    pages.close();
  }
}

const now = (): number => performance.timeOrigin + performance.now();

async function measured(take: (got: (paintedAt: number) => void) => void): Promise<Seen> {
  const latencies: number[] = [];
  let measuring = false;
  take((paintedAt) => {
    if (measuring) latencies.push(now() - paintedAt);
  });
  await wait(WARM_UP_MS);
  measuring = true;
  await wait(MEASURED_MS);
  measuring = false;
  return { latencies, perSecond: latencies.length / (MEASURED_MS / 1_000) };
}

/** The least that it can be: Chromium's DevTools, in this process, each frame acknowledged at once. */
async function rawScreencast(program: string, url: string): Promise<Seen> {
  const browser = await launchChromium(program);
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(url);
    const session = await page.context().newCDPSession(page);
    return await measured((got) => {
      session.on('Page.screencastFrame', ({ sessionId, data, metadata }) => {
        if (Buffer.from(data, 'base64').length > 0) got((metadata.timestamp ?? 0) * 1_000);
        void session.send('Page.screencastFrameAck', { sessionId }).catch(() => undefined);
      });
      void session.send('Page.startScreencast', { format: 'jpeg', quality: 70, maxWidth: 1_280, maxHeight: 1_280 });
    });
  } finally {
    await browser.close();
  }
}

/** The sandbox's two processes, and watchers at agent-server's socket, who say at once that they have seen a frame. */
async function throughTheView(url: string, watchers: number): Promise<Seen> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-view-'));
  const [WORKSPACE_DIR, STATE_DIR] = [path.join(folder, 'workspace'), path.join(folder, 'state')];
  await mkdir(WORKSPACE_DIR);
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    WORKSPACE_DIR,
    STATE_DIR,
    ACTION_SERVER_TOKEN,
    LOG_LEVEL: 'warn',
  };
  const tools = startProcess(process.execPath, [BUNDLE], env);
  let agent: BenchAgentServer | undefined;
  const sockets: WebSocket[] = [];
  try {
    const listening = path.join(STATE_DIR, 'action-server.json');
    await until('action-server listens', () => existsSync(listening));
    const toolsUrl = `http://127.0.0.1:${(JSON.parse(readFileSync(listening, 'utf8')) as { port: number }).port}`;
    agent = await startAgentServer(1, toolsUrl);
    await agent.activate();
    const answer = await fetch(`${toolsUrl}/execute_action`, {
      method: 'POST',
      headers: { 'x-session-api-key': ACTION_SERVER_TOKEN },
      body: JSON.stringify({ action: { kind: 'BrowserNavigateAction', url } }),
    });
    const { observation } = (await answer.json()) as { observation?: { is_error: boolean } };
    if (observation?.is_error !== false) throw new Error('the page was not opened');
    const { url: agentUrl, sessionKey } = agent;
    let got: (paintedAt: number) => void = () => {};
    for (let index = 0; index < watchers; index += 1) {
      const socket = new WebSocket(`${agentUrl.replace('http', 'ws')}/sockets/live/browser`, {
        headers: { 'x-session-api-key': sessionKey },
      });
      sockets.push(socket);
      socket.on('message', (data: Buffer, binary: boolean) => {
        const frame = binary ? decodeBrowserFrame(new Uint8Array(data)) : null;
        if (frame === null) return;
        got(frame.paintedAt);
        socket.send(JSON.stringify({ type: 'seen', frame: frame.number }));
      });
      await once(socket, 'open');
    }
    const seen = await measured((take) => {
      got = take;
    });
    return { ...seen, perSecond: seen.perSecond / watchers };
  } finally {
    for (const socket of sockets) socket.terminate();
    await agent?.stop();
    await tools.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
