// `true` in the agent's persistent shell, over HTTP to action-server: the price of one tool call.
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '@slipway/testing';
import { Pool } from 'undici';
import { startProcess } from './measure/child-process.ts';
import { loopbackFloor } from './measure/floor.ts';
import { beside, type OpenHandsServer } from './measure/openhands-server.ts';
import { percentile, timeEach } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const BUNDLE = fileURLToPath(new URL('../apps/action-server/bundle/action-server.cjs', import.meta.url));
const TOKEN = 'bench-token-of-at-least-32-characters';
const N = quick(2_000, 30);
const PEER_N = quick(200, 1);
/** OpenHands agent-server 1.58.0 on such a machine, where it cannot be installed. Milliseconds. */
const RECORDED = { p50: 12.9, p99: 21.7 };

export default async function run(report: Report): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-bash-'));
  const [WORKSPACE_DIR, STATE_DIR] = [path.join(folder, 'workspace'), path.join(folder, 'state')];
  await mkdir(WORKSPACE_DIR);
  const running = startProcess(process.execPath, [BUNDLE], {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    WORKSPACE_DIR,
    STATE_DIR,
    ACTION_SERVER_TOKEN: TOKEN,
    LOG_LEVEL: 'warn',
  });
  try {
    const listening = path.join(STATE_DIR, 'action-server.json');
    await until('action-server listens', () => existsSync(listening));
    const { port } = JSON.parse(readFileSync(listening, 'utf8')) as { port: number };
    const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1 });
    const body = JSON.stringify({ action: { kind: 'TerminalAction', command: 'true' } });
    const once = async (): Promise<void> => {
      const response = await pool.request({
        path: '/execute_action',
        method: 'POST',
        headers: { 'x-session-api-key': TOKEN, 'content-type': 'application/json' },
        body,
      });
      const { observation } = (await response.body.json()) as { observation: { exit_code: number } };
      if (observation.exit_code !== 0) throw new Error(`\`true\` ended with ${observation.exit_code}`);
    };
    const samples = await timeEach(N, once);
    await pool.close();
    const floor = await loopbackFloor(N);
    const peer = await beside(peerRoundtrip, RECORDED);
    report.figure({ figure: 'p50', value: percentile(samples, 0.5), unit: 'ms', floor, peer: peer.p50, n: N });
    report.figure({ figure: 'p99', value: percentile(samples, 0.99), unit: 'ms', floor, peer: peer.p99, n: N });
  } finally {
    await running.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** `true` by the peer's own route for commands. */
async function peerRoundtrip(server: OpenHandsServer): Promise<typeof RECORDED> {
  const pool = new Pool(server.url, { connections: 1 });
  const body = JSON.stringify({ command: 'true', timeout: 30 });
  const samples = await timeEach(PEER_N, async () => {
    const response = await pool.request({
      path: '/api/bash/execute_bash_command',
      method: 'POST',
      headers: { 'x-session-api-key': server.sessionKey, 'content-type': 'application/json' },
      body,
    });
    const { exit_code: exitCode } = (await response.body.json()) as { exit_code: number };
    if (exitCode !== 0) throw new Error(`the peer's \`true\` ended with ${exitCode}`);
  });
  await pool.close();
  return { p50: percentile(samples, 0.5), p99: percentile(samples, 0.99) };
}
