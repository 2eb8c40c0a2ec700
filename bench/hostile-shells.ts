// What a sandbox spends on shells that are killed and on output without an end: processor time of action-server and of
// all that it runs, in parts of one core. Needs root.
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { until } from '@slipway/testing';
import { startProcess } from './measure/child-process.ts';
import { cpuMs } from './measure/process-usage.ts';
import { NEEDS_ROOT, quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { ResourceGroup, templateLimits } from './measure/resource-group.ts';

const BUNDLE = fileURLToPath(new URL('../apps/action-server/bundle/action-server.cjs', import.meta.url));
const REPEATED = fileURLToPath(new URL('./measure/repeated-action.ts', import.meta.url));
const TOKEN = 'bench-token-of-at-least-32-characters';
/** What a sandbox may do at once before it is slowed down is over by then; then so long is measured. Milliseconds. */
const SETTLE_MS = quick(6_000, 500);
const MEASURED_MS = quick(6_000, 700);

const ABUSES: Readonly<Record<string, string>> = {
  'killed-shells': 'kill -9 $$',
  'endless-output': 'while :; do seq 1 1000000; done',
};

interface Usage {
  readonly at: number;
  readonly server: number;
  readonly all: number;
  /** How often the server went to sleep. */
  readonly sleeps: number;
  readonly reads: number;
  readonly readBytes: number;
}

export default async function run(report: Report): Promise<void> {
  if (process.getuid?.() !== 0) return report.note(NEEDS_ROOT);
  for (const [abuse, command] of Object.entries(ABUSES)) {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-hostile-'));
    const [WORKSPACE_DIR, STATE_DIR] = [path.join(folder, 'workspace'), path.join(folder, 'state')];
    await mkdir(WORKSPACE_DIR);
    const group = ResourceGroup.create(`slipway-bench-hostile-${process.pid}`, templateLimits());
    const [program = '', ...argv] = group.wrap([process.execPath, BUNDLE]);
    const running = startProcess(program, argv, {
      HOME: folder,
      WORKSPACE_DIR,
      STATE_DIR,
      ACTION_SERVER_TOKEN: TOKEN,
      LOG_LEVEL: 'warn',
    });
    try {
      const listening = path.join(STATE_DIR, 'action-server.json');
      const { port, pid } = await until(
        'action-server listens',
        () => existsSync(listening) && (JSON.parse(readFileSync(listening, 'utf8')) as { port: number; pid: number }),
      );
      const action = JSON.stringify({ action: { kind: 'TerminalAction', command, timeout: 3_600 } });
      const repeated = startProcess(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', REPEATED, `http://127.0.0.1:${port}`, TOKEN, action],
        {},
      );
      await wait(SETTLE_MS);
      const [before, answersBefore] = [await usage(pid, group), repeated.output().length];
      await wait(MEASURED_MS);
      const [after, answersAfter] = [await usage(pid, group), repeated.output().length];
      await repeated.stop();
      const seconds = (after.at - before.at) / 1_000;
      const perSecond = (key: keyof Usage): number => (after[key] - before[key]) / seconds;
      report.figure({ figure: `${abuse}-server-cpu`, value: perSecond('server') / 10, unit: '%', n: 1 });
      report.figure({ figure: `${abuse}-all-cpu`, value: perSecond('all') / 10, unit: '%', n: 1 });
      report.figure({ figure: `${abuse}-server-sleeps`, value: perSecond('sleeps'), unit: '1/s', n: 1 });
      report.figure({ figure: `${abuse}-server-reads`, value: perSecond('reads'), unit: '1/s', n: 1 });
      if (abuse === 'killed-shells')
        report.figure({ figure: 'shells-started', value: (answersAfter - answersBefore) / seconds, unit: '1/s', n: 1 });
      if (abuse === 'endless-output') {
        const megabytes = (after.readBytes - before.readBytes) / 1e6;
        report.figure({ figure: 'output-taken', value: megabytes / seconds, unit: 'MB/s', n: 1 });
        report.figure({
          figure: 'server-cpu-per-MB',
          value: (after.server - before.server) / megabytes,
          unit: 'ms',
          n: 1,
        });
      }
    } finally {
      await group.remove();
      await running.stop();
      await rm(folder, { recursive: true, force: true });
    }
  }
}

async function usage(pid: number, group: ResourceGroup): Promise<Usage> {
  const [io, status] = await Promise.all([
    readFile(`/proc/${pid}/io`, 'utf8'),
    readFile(`/proc/${pid}/status`, 'utf8'),
  ]);
  const field = (text: string, name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]);
  return {
    at: performance.now(),
    server: await cpuMs(pid),
    all: group.cpuMs,
    sleeps: field(status, 'voluntary_ctxt_switches'),
    reads: field(io, 'syscr'),
    readBytes: field(io, 'rchar'),
  };
}
