// `npm start`. Plain JavaScript for any Node from 20.19 on, with nothing installed yet: checks what is needed,
// installs, builds, then hands over to main.ts under the project's own Node.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { installedOn, unhashedPackages } from '../../tools/unhashed-packages.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const entry = process.argv[2] ?? 'main.ts';
const began = Date.now();
const say = (line) => process.stderr.write(`${line}\n`);

function stopWith(sentence) {
  say(`\nSlipway failed to start: ${sentence}`);
  process.exit(1);
}

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19))
  stopWith(`Node ${process.versions.node} is too old. Install Node 20.19 or newer.`);
try {
  execFileSync('git', ['--version'], { stdio: 'ignore' });
} catch {
  stopWith('git is not on the PATH. Install git (for example: apt-get install git).');
}

const unverified = installedOn(unhashedPackages(path.join(root, 'package-lock.json')), process.platform, process.arch);
if (unverified.length > 0)
  say(
    `Warning: package-lock.json has no hash of ${unverified.length} packages for ${process.platform} ${process.arch}, so npm installs them unverified: ` +
      `${unverified.map(({ name, version }) => `${name}@${version}`).join(', ')}. CONTRIBUTING.md says how to fill them in.`,
  );

const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const installed = path.join(root, 'node_modules/.package-lock.json');
if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(path.join(root, 'package-lock.json')).mtimeMs) {
  say('Installing packages (about a minute the first time) …');
  const result = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (result.status !== 0)
    stopWith('npm could not install the packages; its own message is above. Check the network and try again.');
  say(`  installed after ${Math.round((Date.now() - began) / 1000)} s`);
}

const node = path.join(root, 'node_modules/.bin', process.platform === 'win32' ? 'node.cmd' : 'node');
if (!existsSync(node))
  stopWith(
    `there is no Node 24 for ${process.platform} ${process.arch} among the packages. Run it on Linux, macOS or Windows, x64 or arm64.`,
  );
const env = {
  ...process.env,
  PATH: `${path.join(root, 'node_modules/.bin')}${path.delimiter}${process.env.PATH ?? ''}`,
  NX_NO_CLOUD: 'true',
  NX_DAEMON: 'false',
  NX_CACHE_DIRECTORY: path.join(root, '.nx/cache'),
  NEXT_TELEMETRY_DISABLED: '1',
};
const building = Date.now();
say('Building what has changed …');
const build = spawnSync(
  node,
  [path.join(root, 'node_modules/nx/dist/bin/nx.js'), 'run-many', '-t', 'build', '--outputStyle=static'],
  {
    cwd: root,
    env,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  },
);
if (build.status !== 0) {
  say(`${build.stdout ?? ''}${build.stderr ?? ''}`);
  stopWith('build failed, see above.');
}
say(`  built in ${((Date.now() - building) / 1000).toFixed(1)} s`);

const child = spawn(
  node,
  ['--disable-warning=ExperimentalWarning', path.join(root, 'deploy/local', entry), ...process.argv.slice(3)],
  {
    cwd: root,
    env: { ...env, SLIPWAY_BEGAN: String(began) },
    stdio: 'inherit',
  },
);
// Ctrl-C reaches the whole foreground group; a signal sent to this process alone is passed on.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 130)));
