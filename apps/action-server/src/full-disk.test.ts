import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect } from '@jest/globals';
import { itUnless, skipTest } from '@slipway/testing/jest';
import { FileEditor } from './editor/file-editor.js';
import { OutputAllowance } from './terminal/output-allowance.js';
import { ShellEnvironment } from './terminal/shell-environment.js';
import { ShellStarts } from './terminal/shell-starts.js';
import { Terminal } from './terminal/terminal.js';
import { textOf } from './testing/running-server.js';

describe('a full disk', () => {
  itUnless(process.getuid?.() !== 0 ? 'a small file system can only be mounted by root' : false)(
    'is said with its code, costs no file its content, and does not keep the agent from making room',
    async () => {
      const disk = await mkdtemp(path.join(os.tmpdir(), 'slipway-full-'));
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', disk], { stdio: 'pipe' });
      } catch (error) {
        await rm(disk, { recursive: true });
        return skipTest(`no small file system here: ${String((error as Error).message).split('\n')[0]}`);
      }
      const terminal = new Terminal({
        workspace: disk,
        outputDirectory: path.join(disk, 'output'),
        environment: new ShellEnvironment({ PATH: process.env['PATH'] }),
        allowance: new OutputAllowance(),
        starts: new ShellStarts(),
      });
      const run = (command: string) =>
        terminal.execute(
          { kind: 'TerminalAction', command, is_input: false, reset: false },
          AbortSignal.timeout(20_000),
        );
      try {
        const file = path.join(disk, 'kept.txt');
        await writeFile(file, 'as it was');
        const filled = await run('head -c 1000000 /dev/zero > ballast');
        expect(filled).toMatchObject({ exit_code: 1, error_code: 'sandbox.disk-full' });
        expect(filled.metadata.suffix).toContain('delete files');
        const edited = await new FileEditor().execute({
          kind: 'FileEditorAction',
          command: 'str_replace',
          path: file,
          old_str: 'was',
          new_str: 'x'.repeat(10_000),
        });
        expect(edited).toMatchObject({ is_error: true, error_code: 'sandbox.disk-full' });
        expect(await readFile(file, 'utf8')).toBe('as it was');
        const long = await run('seq 1 50000');
        expect(long).toMatchObject({ exit_code: 0, full_output_save_dir: null, error_code: 'sandbox.disk-full' });
        expect(textOf(long).endsWith('50000')).toBe(true);
        expect(await run(`rm ballast # ${'a long command needs no room '.repeat(200)}`)).toMatchObject({
          exit_code: 0,
        });
        expect(await run('echo room > new && cat new')).toMatchObject({ exit_code: 0, content: [{ text: 'room' }] });
      } finally {
        terminal.close();
        execFileSync('umount', ['-l', disk]);
        await rm(disk, { recursive: true });
      }
    },
  );
});
