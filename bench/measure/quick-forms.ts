import { spawn, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import { skipTest } from '@slipway/testing/jest';

/** Of one quick form, many times what it takes on an idle machine of two cores. Milliseconds. */
const LONGEST_MS = 240_000;
const FOLDER = path.dirname(import.meta.dirname);
const NAMES = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && file !== 'run.ts')
  .map((file) => file.slice(0, -3));

interface Ended {
  readonly code: number | null;
  readonly figures: readonly Record<string, unknown>[];
  readonly notes: string;
}

function runQuick(name: string): Promise<Ended> {
  const parameters = ['--disable-warning=ExperimentalWarning', path.join(FOLDER, 'run.ts'), '--one', name];
  const child = spawn(process.execPath, parameters, {
    env: { ...process.env, BENCH_QUICK: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: what it started and left would hold its output open.
    detached: true,
  });
  const endAll = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All of it has ended.
    }
  };
  const timer = setTimeout(endAll, LONGEST_MS);
  child.once('exit', endAll);
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => void out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => void err.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      const lines = Buffer.concat(out).toString().split('\n');
      const figures = lines
        .filter((line) => line.startsWith('{"bench"'))
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      resolve({ code, figures, notes: Buffer.concat(err).toString() });
    });
  });
}

/** In a whole run of the suites, by the first digits of the commit; `null`: all parts. */
function partOfThisCommit(of: number): number | null {
  if (process.env['BENCH_PARTS'] !== 'one') return null;
  const { stdout } = spawnSync('git', ['rev-parse', '--short=7', 'HEAD'], { cwd: FOLDER, encoding: 'utf8' });
  const commit = Number.parseInt(stdout ?? '', 16);
  return Number.isNaN(commit) ? null : (commit % of) + 1;
}

/**
 * Tests of one part of all benches, by the alphabet: a file that fails is run again as a whole, and has a time limit.
 * @param part 1 to `of`.
 */
export function testQuickForms(part: number, of: number): void {
  const chosen = partOfThisCommit(of);
  const why = `part ${chosen} of ${of} is run with this commit; \`npm test -- bench\` runs all`;
  const names = NAMES.filter((_, index) => index % of === part - 1);
  jest.setTimeout(names.length * LONGEST_MS);
  describe(`the quick form of benches, part ${part} of ${of}`, () => {
    for (const name of names)
      it(`${name} runs to its end`, async () => {
        if (chosen !== null && chosen !== part) return skipTest(why);
        const { code, figures, notes } = await runQuick(name);
        expect({ code, said: code === 0 ? '' : notes.slice(-3_000) }).toEqual({ code: 0, said: '' });
        const missing = /not measured: .+/.exec(notes)?.[0];
        if (figures.length === 0 && missing !== undefined) return skipTest(missing);
        expect(figures.length).toBeGreaterThan(0);
        // So that none is copied into docs/performance.md.
        expect(
          figures.filter(({ bench, value, quick }) => bench !== name || !Number.isFinite(value) || quick !== true),
        ).toEqual([]);
      });
  });
}
