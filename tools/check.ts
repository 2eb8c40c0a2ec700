// `npm run check`: format, lint, types, arrows, sizes, unused code, generated files, lockfile. Runs every part, then
// lists those that failed.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { checkArrows } from './arrows.ts';
import { breakingChanges } from './check/api-changes.ts';
import { overdueFlagsOf } from './check/flags.ts';
import { functionsOverLimits } from './check/functions.ts';
import { markdownProblems } from './check/markdown.ts';
import { wrongWordsOf } from './check/messages.ts';
import { contractingMigrations, misplacedFunctions } from './check/migrations.ts';
import { tooLong } from './check/sizes.ts';
import { oldWords } from './check/words.ts';
import { unhashedPackages } from './unhashed-packages.mjs';

const root = path.resolve(import.meta.dirname, '..');
const bin = (name: string): string => path.join(root, 'node_modules/.bin', name);

/** Failures, as text; empty when nothing is. */
type Part = () => string;

/** A tool that says nothing, or says it in vain, when it succeeds. */
const command =
  (program: string, args: readonly string[], folder = '.'): Part =>
  () => {
    const { status, stdout, stderr, error } = spawnSync(program, args, {
      cwd: path.join(root, folder),
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      env: { ...process.env, FORCE_COLOR: '0', NO_COLOR: '1' },
    });
    if (status === 0) return '';
    return `${stdout ?? ''}${stderr ?? ''}`.trim() || String(error ?? `${program} ended with ${status}`);
  };

const web = existsSync(path.join(root, 'apps/web/tsconfig.json'));
const parts: readonly [string, Part][] = [
  ['format and lint', command(bin('biome'), ['check', '--error-on-warnings', '--max-diagnostics=50', '.'])],
  ["Prisma's client", command(process.execPath, ['libs/db/scripts/generate-client.mjs'])],
  ['types', command(bin('tsc'), ['-b'])],
  ['types of tools, bench, deploy and tests', command(bin('tsc'), ['-p', 'tsconfig.scripts.json'])],
  ...(web ? [['types of web', command(bin('tsc'), ['--noEmit'], 'apps/web')] as [string, Part]] : []),
  ['arrows between projects', () => checkArrows(root).join('\n')],
  ['sizes of files', () => tooLong(root).join('\n')],
  ['parameters, collaborators, lengths of functions', () => functionsOverLimits(root).join('\n')],
  ['SQL functions in files of their own', () => misplacedFunctions(root).join('\n')],
  ['migrations that contract', () => contractingMigrations(root).join('\n')],
  ['old words', () => oldWords(root).join('\n')],
  ['Markdown: line length and links', () => markdownProblems(root).join('\n')],
  ['flags whose end is over', () => overdueFlagsOf(root, new Date()).join('\n')],
  ...(web ? [['words of screens', () => wrongWordsOf(root).join('\n')] as [string, Part]] : []),
  ['unused code', command(bin('knip'), ['--no-progress', '--no-config-hints'])],
  [
    'generated files',
    command(process.execPath, ['--disable-warning=ExperimentalWarning', 'tools/generate.ts', '--check']),
  ],
  ['breaking changes of the API', () => breakingChanges(root).join('\n')],
  ['project references', command(process.execPath, ['tools/tsconfigs.mjs', '--check'])],
  ['lockfile', command(process.execPath, ['tools/fill-lock.ts', '--check'])],
];

const failed: string[] = [];
for (const [name, part] of parts) {
  const started = performance.now();
  const wrong = part();
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${wrong === '' ? '✔' : '✖'} ${name.padEnd(42)} ${seconds.padStart(6)} s`);
  if (wrong === '') continue;
  failed.push(name);
  console.log(`${wrong.replace(/^/gm, '    ')}\n`);
}
const unhashed = unhashedPackages(path.join(root, 'package-lock.json'));
if (unhashed.length > 0) {
  const named = unhashed.map(({ name, version }) => `${name}@${version}`).join(', ');
  console.log(
    `\nNot verified: ${unhashed.length} packages of other platforms have no hash in package-lock.json (CONTRIBUTING.md): ${named}`,
  );
}
console.log(
  failed.length === 0 ? '\nAll checks passed.' : `\n${failed.length} of ${parts.length} failed: ${failed.join(', ')}`,
);
process.exit(failed.length === 0 ? 0 : 1);
