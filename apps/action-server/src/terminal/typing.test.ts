import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { processRow } from '../process/process-table.js';
import { OutputAllowance } from './output-allowance.js';
import { Shell } from './shell.js';

/**
 * How long is measured, and what of it the processor may be used. Milliseconds: a try that never pauses uses all of it.
 */
const MEASURED_MS = 1_000;
const USED_AT_MOST_MS = 250;

describe('what is typed for a program that does not read it', () => {
  it('waits in its terminal without using the processor, and reaches the program when that reads', async () => {
    const directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-typing-'));
    const ends: number[] = [];
    const printed: string[] = [];
    const shell = new Shell(
      { cwd: directory, env: { PATH: process.env['PATH'] ?? '', HOME: directory }, allowance: new OutputAllowance() },
      {
        output: (_, bytes) => void printed.push(bytes.toString()),
        end: ({ sequence }) => void ends.push(sequence),
        exit: () => {},
      },
    );
    try {
      // It reads on request: until then its terminal is full.
      shell.run(1, 'until [ -e go ]; do sleep 0.05; done; head -c 100000 | wc -c');
      await until('the program runs', () => shell.foregroundGroup() !== undefined);
      shell.type('0123456789\n'.repeat(20_000));
      const before = process.cpuUsage();
      await wait(MEASURED_MS);
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1_000).toBeLessThan(USED_AT_MOST_MS);
      expect(ends).toEqual([]);
      await writeFile(path.join(directory, 'go'), '');
      await until('it has read', () => printed.join('').includes('100000'), 20_000);
      await until('its end', () => ends.length === 1);
    } finally {
      const { pid } = shell;
      shell.kill();
      await until('the shell is gone', () => processRow(pid) === undefined);
      await rm(directory, { recursive: true, force: true });
    }
  }, 30_000);
});
