// A clone of a private repository of 500 MB through the broker, beside one straight from the git host.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { runGitBackend } from '@slipway/testing';
import { credential, TestBroker } from '../apps/credential-broker/dist/testing/test-broker.js';
import { startTestProxy } from '../apps/credential-broker/dist/testing/test-proxy.js';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const run = promisify(execFile);
const HOST = 'git.example.com';
const FILES = quick(50, 2);
const FILE_BYTES = 10_000_000;
const CLONES = quick(3, 1);

export default async function bench(report: Report): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-clone-'));
  const world = await TestBroker.start({ BROKER_IDLE_SECONDS: '600' });
  const proxy = await startTestProxy(world);
  try {
    await makeRepository(folder);
    const token = credential({ form: 'basic', places: [{ host: HOST }] });
    const wanted = `Basic ${Buffer.from(`x-access-token:${token.value}`).toString('base64')}`;
    const origin = await world.origin(HOST, (request, response) => {
      const { pathname, search } = new URL(request.url ?? '/', 'https://git');
      if (request.headers.authorization === wanted)
        runGitBackend({ directory: folder, pathname, search, user: 'agent' }, request, response);
      else response.writeHead(401).end();
    });
    await world.give({
      ...credential({ form: 'basic', places: [{ host: HOST, port: origin.port, git: { push: [] } }] }),
      value: token.value,
    });
    const [roots, authority] = [path.join(folder, 'roots.pem'), path.join(folder, 'authority.pem')];
    await writeFile(roots, world.roots.cert);
    await writeFile(authority, world.authority.cert);
    const clone = async (more: readonly string[]): Promise<number> => {
      const target = path.join(folder, 'clone');
      const since = performance.now();
      await run('git', [...more, 'clone', '--quiet', '--bare', `https://${HOST}:${origin.port}/acme/app.git`, target], {
        env: { PATH: process.env['PATH'], HOME: folder, GIT_TERMINAL_PROMPT: '0', GIT_CONFIG_NOSYSTEM: '1' },
        timeout: 300_000,
      });
      const seconds = (performance.now() - since) / 1000;
      await rm(target, { recursive: true });
      return (FILES * FILE_BYTES) / 1e6 / seconds;
    };
    const [through, straight]: [number[], number[]] = [[], []];
    for (let count = 0; count < CLONES; count += 1) {
      through.push(await clone(['-c', `http.proxy=${proxy.url}`, '-c', `http.sslCAInfo=${authority}`]));
      straight.push(
        await clone([
          ...['-c', `http.curloptResolve=${HOST}:${origin.port}:127.0.0.1`, '-c', `http.sslCAInfo=${roots}`],
          ...['-c', `http.extraHeader=Authorization: ${wanted}`],
        ]),
      );
    }
    report.figure({
      figure: 'clone',
      value: percentile(through, 0.5),
      floor: percentile(straight, 0.5),
      unit: 'MB/s',
      n: CLONES,
    });
  } finally {
    await proxy.close();
    await world.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Of bytes that do not compress, so that what is sent is what is there. */
async function makeRepository(folder: string): Promise<void> {
  const source = path.join(folder, 'source');
  const git = (...argv: string[]) =>
    run('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'core.compression=0', ...argv], {
      env: { PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1' },
      timeout: 300_000,
    });
  await git('init', '--quiet', source);
  for (let file = 0; file < FILES; file += 1)
    await writeFile(path.join(source, `${file}.bin`), randomBytes(FILE_BYTES));
  await git('-C', source, 'add', '--all');
  await git('-C', source, 'commit', '--quiet', '--message', 'Much');
  await mkdir(path.join(folder, 'acme'));
  const bare = path.join(folder, 'acme/app.git');
  await git('clone', '--quiet', '--bare', source, bare);
  await git('-C', bare, 'repack', '--quiet', '-a', '-d', '--window=0');
  await rm(source, { recursive: true });
}
