// Runs a TypeScript tool under the project's own Node: `node tools/run.mjs test.ts …`. Plain JavaScript for any Node
// from 20.19 on, so that it can say what is missing instead of failing on syntax.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [script, ...rest] = process.argv.slice(2);
const bin = path.join(root, 'node_modules', '.bin');
const node = path.join(bin, process.platform === 'win32' ? 'node.cmd' : 'node');

function stopWith(sentence) {
  console.error(sentence);
  process.exit(1);
}

if (script === undefined) stopWith('usage: node tools/run.mjs SCRIPT.ts [ARGUMENT…]');
if (!existsSync(path.join(root, 'node_modules', '.package-lock.json')))
  stopWith('The packages are not installed. Run `npm ci` first.');
if (!existsSync(node))
  stopWith(
    `There is no Node 24 for ${process.platform} ${process.arch} among the packages. Use Linux, macOS or Windows, x64 or arm64, and run \`npm ci\`.`,
  );

const child = spawn(node, ['--disable-warning=ExperimentalWarning', path.join(root, 'tools', script), ...rest], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    PATH: `${bin}${path.delimiter}${process.env.PATH ?? ''}`,
    // Nx would keep its cache in the home folder, and report builds of another checkout.
    NX_CACHE_DIRECTORY: path.join(root, '.nx', 'cache'),
    NX_NO_CLOUD: 'true',
    NX_DAEMON: 'false',
    NEXT_TELEMETRY_DISABLED: '1',
  },
});
// Ctrl-C reaches the whole foreground group; a signal sent to this process alone is passed on.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 130)));
