// `true` in one sandbox while another does its worst (fork bomb, full disk, killed shells, endless output), beside the
// same with the other idle. Needs root.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { until } from '@slipway/testing';
import { Pool } from 'undici';
import { type RunningProcess, startProcess } from './measure/child-process.ts';
import { percentile } from './measure/percentile.ts';
import { NEEDS_ROOT, quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { ResourceGroup, templateLimits } from './measure/resource-group.ts';

const BUNDLE = fileURLToPath(new URL('../apps/action-server/bundle/action-server.cjs', import.meta.url));
const REPEATED = fileURLToPath(new URL('./measure/repeated-action.ts', import.meta.url));
const TOKEN = 'bench-token-of-at-least-32-characters';
/** Each abuse beside idling, this often; in each, so many calls, one every so many milliseconds. */
const ROUNDS = quick(5, 1);
const CALLS = quick(150, 10);
const EVERY_MS = 5;
/** From the begin of an abuse, or its end, to the first call. Milliseconds. */
const SETTLE_MS = quick(700, 200);
/** The disk of each sandbox. */
const DISK = '64m';

const ABUSES: Readonly<Record<string, string>> = {
  'fork-bomb': 'bomb() { bomb | bomb & }; bomb; while :; do (:); done',
  'full-disk': 'while :; do head -c 1G /dev/zero > ballast; rm ballast; done',
  'killed-shells': 'kill -9 $$',
  'endless-output': 'while :; do seq 1 1000000; done',
};

interface Sandbox {
  readonly url: string;
  readonly pid: number;
  readonly group: ResourceGroup;
  stop(): Promise<void>;
}

export default async function run(report: Report): Promise<void> {
  if (process.getuid?.() !== 0) return report.note(NEEDS_ROOT);
  const limits = templateLimits();
  report.note(
    `each sandbox: ${limits.cpuRequest} cpu asked for, ${limits.cpuLimit} at most, ${limits.memory / 1024 ** 3} GiB, 1024 processes, a disk of ${DISK}; ${os.availableParallelism()} cpus for all`,
  );
  const neighbour = await startSandbox('neighbour');
  const pool = new Pool(neighbour.url, { connections: 1 });
  const rest: number[] = [];
  try {
    await measure(pool);
    for (const [abuse, command] of Object.entries(ABUSES)) {
      const [alone, beside]: [number[], number[]] = [[], []];
      for (let round = 0; round < ROUNDS; round += 1) {
        const abuser = await startSandbox('abuser');
        await wait(SETTLE_MS);
        alone.push(...(await measure(pool)));
        const action = JSON.stringify({ action: { kind: 'TerminalAction', command, timeout: 3_600 } });
        const repeated = startProcess(
          process.execPath,
          ['--disable-warning=ExperimentalWarning', REPEATED, abuser.url, TOKEN, action],
          {},
        );
        await wait(SETTLE_MS);
        beside.push(...(await measure(pool)));
        await repeated.stop();
        await abuser.stop();
        await wait(SETTLE_MS);
      }
      for (const p of [0.5, 0.99])
        report.figure({
          figure: `${abuse}-p${p * 100}`,
          value: percentile(beside, p),
          unit: 'ms',
          floor: percentile(alone, p),
          n: beside.length,
        });
      rest.push(...alone);
    }
    for (const p of [0.5, 0.99])
      report.figure({ figure: `alone-p${p * 100}`, value: percentile(rest, p), unit: 'ms', n: rest.length });
  } finally {
    await pool.close();
    await neighbour.stop();
  }
}

async function measure(pool: Pool): Promise<number[]> {
  const body = JSON.stringify({ action: { kind: 'TerminalAction', command: 'true' } });
  const samples: number[] = [];
  for (let call = 0; call < CALLS; call += 1) {
    const next = wait(EVERY_MS);
    const began = performance.now();
    const answer = await pool.request({
      path: '/execute_action',
      method: 'POST',
      headers: { 'x-session-api-key': TOKEN },
      body,
    });
    const { observation } = (await answer.body.json()) as { observation: { exit_code: number } };
    samples.push(performance.now() - began);
    if (observation.exit_code !== 0) throw new Error(`\`true\` ended with ${observation.exit_code}`);
    await next;
  }
  return samples;
}

/** action-server as a container has it: a group with the pod's limits, and a disk of its own. */
async function startSandbox(role: string): Promise<Sandbox> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-noisy-'));
  const [WORKSPACE_DIR, STATE_DIR] = [path.join(folder, 'workspace'), path.join(folder, 'state')];
  await mkdir(WORKSPACE_DIR);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', WORKSPACE_DIR]);
  const group = ResourceGroup.create(`slipway-bench-${role}-${process.pid}`, templateLimits());
  const [command = '', ...argv] = group.wrap([process.execPath, BUNDLE]);
  const running: RunningProcess = startProcess(command, argv, {
    HOME: folder,
    WORKSPACE_DIR,
    STATE_DIR,
    ACTION_SERVER_TOKEN: TOKEN,
    LOG_LEVEL: 'warn',
  });
  const stop = async (): Promise<void> => {
    await group.remove();
    await running.stop();
    execFileSync('umount', ['-l', WORKSPACE_DIR]);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const listening = path.join(STATE_DIR, 'action-server.json');
    const { port, pid } = await until(
      'action-server listens',
      () => existsSync(listening) && (JSON.parse(readFileSync(listening, 'utf8')) as { port: number; pid: number }),
    );
    return { url: `http://127.0.0.1:${port}`, pid, group, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
