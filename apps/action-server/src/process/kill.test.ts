import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { describeUnless, itUnless } from '@slipway/testing/jest';
import { killMarked, killSession } from './kill.js';
import { processRow } from './process-table.js';

describeUnless(process.platform !== 'linux' ? 'there is no /proc' : false)('what is killed together', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-kill-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  const begin = (command: string, env: Record<string, string> = {}): ChildProcess =>
    spawn('bash', ['-c', command], {
      cwd: directory,
      env: { ...process.env, ...env },
      detached: true,
      stdio: 'ignore',
    });
  /** Process ids that the command has written into files of these names. */
  const written = (...names: string[]): Promise<number[]> =>
    until('they have begun', () => {
      const pids = names.map((name) => {
        try {
          return Number(readFileSync(path.join(directory, name), 'utf8'));
        } catch {
          return 0;
        }
      });
      return pids.every((pid) => pid > 0) ? pids : false;
    });
  const areGone = (pids: readonly number[]): boolean => pids.every((pid) => processRow(pid) === undefined);

  it('is a session with its jobs, the sessions that its programs have begun, and what has lost its parent in those', async () => {
    const { pid = 0 } = begin(`set -m
      sleep 1000 & echo $! > job
      set +m
      setsid bash -c '(sleep 1000 & echo $! > orphan); echo $$ > session; sleep 1000' &
      wait`);
    const pids = await written('job', 'orphan', 'session');
    killSession(pid);
    await until('all are gone', () => areGone([pid, ...pids]));
  });

  it('is what has a mark in its environment, and nothing else', async () => {
    const { pid = 0 } = begin('(setsid sleep 1000 & echo $! > marked); echo $$ > first; sleep 1000', {
      KILL_TEST: `one-${process.pid}`,
    });
    const other = begin('sleep 1000', { KILL_TEST: `two-${process.pid}` });
    const pids = await written('marked', 'first');
    killMarked(`KILL_TEST=one-${process.pid}`);
    await until('all are gone', () => areGone([pid, ...pids]));
    expect(processRow(other.pid ?? 0)).toBeDefined();
    other.kill('SIGKILL');
  });

  const isRoot = process.getuid?.() === 0;
  itUnless(isRoot ? false : 'only root can give a user of its own a bound on its processes')(
    'is a fork bomb, with one process group or thousands',
    async () => {
      const uid = 61_000 + (process.pid % 1_000);
      const theirs = (): number[] =>
        readdirSync('/proc').flatMap((name) => {
          try {
            const isTheirs = /^\d+$/.test(name) && statSync(`/proc/${name}`).uid === uid;
            return isTheirs && processRow(Number(name)) !== undefined ? [Number(name)] : [];
          } catch {
            return [];
          }
        });
      const limits = `setpriv --reuid ${uid} --regid ${uid} --clear-groups prlimit --nproc=100`;
      for (const bomb of ['bomb() { bomb | bomb & }; bomb', 'set -m; bomb() { bomb & bomb & }; bomb']) {
        const { pid = 0 } = begin(`exec ${limits} bash -c '${bomb}; while :; do (:); done'`);
        await until('it has grown', () => theirs().length > 20);
        killSession(pid);
        await until('nothing of it is left', () => theirs().length === 0);
      }
    },
  );
});
