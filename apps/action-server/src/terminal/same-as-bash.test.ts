import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { textOf } from '../testing/running-server.js';
import { OutputAllowance } from './output-allowance.js';
import { ShellEnvironment } from './shell-environment.js';
import { ShellStarts } from './shell-starts.js';
import { Terminal } from './terminal.js';

const word = fc.constantFrom(
  'a',
  '"b c"',
  "'d $x'",
  '$x',
  '"$x"',
  'é',
  '\\\\',
  '$((1+2))',
  '`echo q`',
  '$(echo r; exit 3)',
  '{1..3}',
  '"tab\there"',
);
const simple = fc.oneof(
  fc.array(word, { maxLength: 4 }).map((words) => `echo ${words.join(' ')}`),
  fc.constantFrom(
    'true',
    'false',
    'x=1',
    'x="two words"',
    'unset x',
    'cd /usr',
    'cd /nowhere 2>&1',
    '(exit 7)',
    'no_such_command_ 2>/dev/null',
    'f() { echo in f "$@"; return 5; }',
    'f 1 2 2>/dev/null',
    'pwd',
    'echo $?',
    'printf "no newline"',
    'printf "%s\\n" "$x"',
    'ls -d / 2>&1',
    '[[ -d /tmp ]]',
    'export y=$x',
    'bash -c \'echo "[$y]"\'',
    'for i in 1 2; do echo $i; done',
    'cat <<E\nhere $x\nE',
    'echo err >&2',
    'set -- p q; echo $#',
    'arr=(1 2 3); declare -p arr',
    'test "$x" = 1',
    'case "$x" in 1) echo one;; *) echo other;; esac',
    '! true',
    'return_ 2>/dev/null || echo no',
  ),
);
/** What may follow a here-document's end is a new line only. */
const command = fc
  .array(fc.tuple(simple, fc.constantFrom('\n', '\n\n', '\n# a comment\n')), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.flat().join('').trimEnd());

describe('the terminal beside a plain bash', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-same-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('prints the same and ends with the same exit codes, whatever the sequence of commands', async () => {
    const environment = new ShellEnvironment({ PATH: process.env['PATH'], HOME: folder });
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 6 }), async (commands) => {
        const terminal = new Terminal({
          workspace: folder,
          outputDirectory: path.join(folder, 'out'),
          environment,
          allowance: new OutputAllowance(),
          starts: new ShellStarts(),
        });
        try {
          for (const [index, { output, exitCode }] of plainBash(commands, folder, environment.variables()).entries()) {
            const observation = await terminal.execute(
              { kind: 'TerminalAction', command: commands[index] as string, is_input: false, reset: false },
              AbortSignal.timeout(20_000),
            );
            expect([index, observation.exit_code, textOf(observation).trimEnd()]).toEqual([
              index,
              exitCode,
              output.trimEnd(),
            ]);
          }
        } finally {
          terminal.close();
        }
      }),
      { numRuns: 60 },
    );
  });
});

/** The same commands in one bash that is not interactive, with what each printed and its `$?`. */
function plainBash(
  commands: readonly string[],
  cwd: string,
  env: Record<string, string>,
): { output: string; exitCode: number }[] {
  const cut = '@@cut@@';
  const script = commands
    .map((text) => `eval ${quoted(text)}; __status=$?; echo "${cut}$__status"; (exit $__status)`)
    .join('\n');
  const { stdout } = spawnSync('bash', ['-c', `exec 2>&1; ${script}`], { cwd, env, encoding: 'utf8', timeout: 20_000 });
  const pieces = stdout.split(new RegExp(`${cut}(\\d+)\\n`));
  return commands.map((_, index) => ({
    output: (pieces[2 * index] ?? '').replaceAll(/bash: line \d+: /g, 'bash: '),
    exitCode: Number(pieces[2 * index + 1]),
  }));
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
