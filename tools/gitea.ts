// `npm run gitea [-- --port PORT]`: a git host on this machine with a project to try Slipway's integrations with.
// Builds it the first time; Ctrl-C stops it, and what it has is kept.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { requireFreePort } from '../deploy/local/settings.ts';

const root = path.resolve(import.meta.dirname, '..');
const stopping = new AbortController();
const say = (line: string): void => void process.stderr.write(`${line}\n`);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => stopping.abort(new Error('stopped')));

try {
  await main();
  process.exit(0);
} catch (error) {
  if (stopping.signal.aborted) process.exit(0);
  say(`\nGitea failed to start: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}

async function main(): Promise<void> {
  // Where `npm start` with the same SLIPWAY_PORT keeps its data, and above its ports.
  const slipwayPort = portOf('SLIPWAY_PORT', process.env['SLIPWAY_PORT'] ?? '3000');
  const { values } = parseArgs({ options: { port: { type: 'string', default: String(slipwayPort + 30) } } });
  const port = portOf('--port', values.port);
  const home = path.join(process.env['SLIPWAY_DATA_DIR'] ?? path.join(root, '.data', String(slipwayPort)), 'gitea');
  await requireFreePort(port, 'Gitea', 'choose another one: npm run gitea -- --port 4030');

  // Incremental: a second when nothing has changed.
  const compiled = spawnSync(path.join(root, 'node_modules/.bin/tsc'), ['-b', 'libs/testing'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (compiled.status !== 0) throw new Error('build failed, see above.');
  const { GiteaServer, missingForGitea, prepareGitea, prepareGiteaPages } = await import('@slipway/testing/gitea');
  const { demoAccounts, isFilled, instructions } = await import('./gitea/demo-accounts.ts');
  const missing = await missingForGitea();
  if (missing !== null) throw new Error(missing);

  const running = path.join(home, 'running-at');
  await requireNotServed(running);
  await prepareGitea(say, stopping.signal);
  const plain = await prepareGiteaPages(say, stopping.signal);
  if (plain !== null) say(plain);

  // The first start of this folder did not come to its end: it holds no data.
  if (existsSync(home) && !isFilled(home)) await rm(home, { recursive: true });
  const server = await GiteaServer.open({ port, home, say, signal: stopping.signal });
  try {
    stopping.signal.throwIfAborted();
    await writeFile(running, server.url);
    say(instructions(server.url, await demoAccounts(server), home));
    await Promise.race([server.whenEnded(), stopped()]);
    if (!stopping.signal.aborted) throw new Error(`it has ended: ${server.log().slice(-2_000)}`);
    say('\nStopping …');
  } finally {
    await server.close();
    await rm(running, { force: true });
  }
}

/**
 * Two would share one database. The file of one that was killed names an address without a server. @throws Error that
 * names the other's address.
 */
async function requireNotServed(file: string): Promise<void> {
  const url = await readFile(file, 'utf8').catch(() => null);
  const answers =
    url !== null &&
    (await fetch(`${url}/api/healthz`, { signal: AbortSignal.timeout(5_000) }).catch(() => null))?.ok === true;
  if (answers)
    throw new Error(
      `it is already running at ${url} with this folder. Stop that one first, or give this one its own: SLIPWAY_PORT=4000 npm run gitea.`,
    );
}

function portOf(name: string, text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_000) throw new Error(`${name} is not a port: ${text}`);
  return port;
}

function stopped(): Promise<void> {
  return new Promise((resolve) => {
    if (stopping.signal.aborted) resolve();
    else stopping.signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
