import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import { skipTest } from '@slipway/testing/jest';

/** Of one quick form, many times what it takes on an idle machine of two cores. Milliseconds. */
const LONGEST_MS = 120_000;
const NAMES = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && file !== 'run.ts')
  .map((file) => file.slice(0, -3));

interface Ended {
  readonly code: number | null;
  readonly figures: readonly Record<string, unknown>[];
  readonly notes: string;
}

function runQuick(name: string): Promise<Ended> {
  const parameters = ['--disable-warning=ExperimentalWarning', path.join(import.meta.dirname, 'run.ts'), '--one', name];
  const child = spawn(process.execPath, parameters, {
    env: { ...process.env, BENCH_QUICK: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LONGEST_MS,
  });
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => void out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => void err.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      const lines = Buffer.concat(out).toString().split('\n');
      const figures = lines
        .filter((line) => line.startsWith('{"bench"'))
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      resolve({ code, figures, notes: Buffer.concat(err).toString() });
    });
  });
}

jest.setTimeout(NAMES.length * LONGEST_MS);

describe('the quick form of every bench', () => {
  for (const name of NAMES)
    it(`${name} runs to its end`, async () => {
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
