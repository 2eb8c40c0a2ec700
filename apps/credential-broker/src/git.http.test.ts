import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createSampleRepository, runGitBackend } from '@slipway/testing';
import { FLUSH, pktLine } from './git/pkt-lines.js';
import { credential, type Origin, TestBroker } from './testing/test-broker.js';
import { startTestProxy, type TestProxy } from './testing/test-proxy.js';

const run = promisify(execFile);
const HOST = 'git.example.com';
const ZERO = '0'.repeat(40);

describe('git through the broker', () => {
  let world: TestBroker;
  let origin: Origin;
  let proxy: TestProxy;
  let served: string;
  let folder: string;
  const token = credential({ form: 'basic', places: [{ host: HOST }] });
  beforeAll(async () => {
    world = await TestBroker.start();
    served = await mkdtemp(path.join(os.tmpdir(), 'slipway-git-'));
    await mkdir(path.join(served, 'acme'));
    await createSampleRepository(path.join(served, 'acme'), 'app.git', { 'README.md': 'hello' });
    await createSampleRepository(path.join(served, 'acme'), 'secret.git', { 'README.md': 'secret' });
    await run('git', ['-C', path.join(served, 'acme/app.git'), 'config', 'http.receivepack', 'true']);
    origin = await world.origin(HOST, (request, response) => {
      const { pathname, search } = new URL(request.url ?? '/', 'https://git');
      const wanted = `Basic ${Buffer.from(`x-access-token:${token.value}`).toString('base64')}`;
      if (request.headers.authorization !== wanted)
        return void response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      if (/info\/lfs/.test(pathname)) return void response.end('{"actions":{"header":{"Authorization":"x"}}}');
      runGitBackend({ directory: served, pathname, search, user: 'agent' }, request, response);
    });
    proxy = await startTestProxy(world);
  });
  beforeEach(async () => {
    origin.seen.length = 0;
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-work-'));
    await give(['refs/heads/slipway/**']);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  afterAll(async () => {
    await proxy?.close();
    await world?.close();
    await rm(served, { recursive: true, force: true });
  });

  const give = (push: string[], more: { value?: string } = {}): Promise<void> =>
    world.give({
      ...credential({
        form: 'basic',
        places: [{ host: HOST, port: origin.port, paths: ['/acme/app'], git: { push } }],
      }),
      id: token.id,
      name: 'GIT_TOKEN',
      value: token.value,
      ...more,
    });
  const url = (repository: string): string => `https://${HOST}:${origin.port}/${repository}`;
  /** @returns the exit code and all that git said. */
  const git = async (...args: string[]): Promise<{ code: number; said: string }> => {
    const child = spawn('git', args, {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        GIT_TERMINAL_PROMPT: '0',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_SSL_CAINFO: path.join(world.folder, 'ca.pem'),
        https_proxy: proxy.url,
        ...IDENTITY,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
    const code = await new Promise<number>((resolve) => child.once('close', (status) => resolve(status ?? 1)));
    return { code, said };
  };
  const clone = async (): Promise<string> => {
    expect(await git('clone', '-q', url('acme/app.git'), 'app')).toMatchObject({ code: 0 });
    return path.join(folder, 'app');
  };
  const commit = async (work: string, content: string | Buffer): Promise<void> => {
    await writeFile(path.join(work, 'new.bin'), content);
    await git('-C', work, 'add', '.');
    expect(await git('-C', work, 'commit', '-qm', 'Change')).toMatchObject({ code: 0 });
  };
  const refs = async (): Promise<string> =>
    (await run('git', ['-C', path.join(served, 'acme/app.git'), 'for-each-ref', '--format=%(refname)'])).stdout;

  it('clones and fetches with neither a credential nor a prompt, with and without .git', async () => {
    const work = await clone();
    expect(await readFile(path.join(work, 'README.md'), 'utf8')).toContain('hello');
    expect(await git('clone', '-q', '--depth=1', url('acme/app'), 'other')).toMatchObject({ code: 0 });
    expect(await git('-C', work, 'fetch', '-q')).toMatchObject({ code: 0 });
    for (const { headers } of origin.seen) expect(headers.authorization).toMatch(/^Basic /);
  });

  it('pushes to a branch of the place, small and large', async () => {
    const work = await clone();
    await commit(work, 'small');
    expect(await git('-C', work, 'push', '-q', 'origin', 'HEAD:refs/heads/slipway/small')).toEqual({
      code: 0,
      said: '',
    });
    // Over http.postBuffer: chunked, with a flush alone before it.
    const noise = Buffer.from(Array.from({ length: 3 * 1024 * 1024 }, () => Math.floor(Math.random() * 256)));
    await commit(work, noise);
    expect(await git('-C', work, 'push', '-q', 'origin', 'HEAD:refs/heads/slipway/large')).toMatchObject({ code: 0 });
    expect(await refs()).toMatch(/slipway\/large\n[\s\S]*slipway\/small/);
    const posts = origin.seen.filter(({ method, url: at }) => method === 'POST' && at.endsWith('git-receive-pack'));
    expect(posts.some(({ headers }) => headers['transfer-encoding'] === 'chunked')).toBe(true);
  });

  it.each([
    ['main', 'HEAD:refs/heads/main', 'only refs/heads/slipway/** may be pushed'],
    ['main by force', '+HEAD:refs/heads/main', 'only refs/heads/slipway/** may be pushed'],
    ['a tag', 'HEAD:refs/tags/v1', 'only branches may be pushed'],
    ['a note', 'HEAD:refs/notes/x', 'only branches may be pushed'],
    ['a deletion', ':refs/heads/main', 'references are not deleted'],
  ])('(B8) a push to %s is refused, and git says why and exits 1', async (_name, refspec, reason) => {
    const before = await refs();
    const work = await clone();
    await commit(work, 'x');
    const { code, said } = await git('-C', work, 'push', 'origin', refspec);
    expect(code).toBe(1);
    expect(said).toContain(`slipway: ${reason}`);
    expect(said).toContain('remote: slipway: with GIT_TOKEN only refs/heads/slipway/** may be pushed');
    expect(await refs()).toBe(before);
    expect(origin.seen.filter(({ method, url: at }) => method === 'POST' && at.endsWith('receive-pack'))).toEqual([]);
  });

  it('(B8) a mirror, and one good reference beside a bad one, push nothing at all', async () => {
    const before = await refs();
    const work = await clone();
    await commit(work, 'x');
    const both = await git('-C', work, 'push', 'origin', 'HEAD:refs/heads/slipway/good', 'HEAD:refs/heads/main');
    expect(both.code).toBe(1);
    expect(both.said).toContain('another reference of this push may not be');
    expect((await git('-C', work, 'push', '--mirror', 'origin')).code).toBe(1);
    expect(await refs()).toBe(before);
  });

  it('(B8) a large push to main is read to its end, so that git hears the reason', async () => {
    const work = await clone();
    await commit(work, Buffer.from(Array.from({ length: 2 * 1024 * 1024 }, () => Math.floor(Math.random() * 256))));
    const { code, said } = await git('-C', work, 'push', 'origin', 'HEAD:main');
    expect(code).toBe(1);
    expect(said).toContain('slipway: only refs/heads/slipway/** may be pushed');
  });

  it('(B8) 1,001 references, a reference twice, push options and other commands are refused', async () => {
    const old = ZERO;
    const to = '1'.repeat(40);
    const command = (ref: string, capabilities = ''): Buffer => pktLine(`${old} ${to} ${ref}${capabilities}`);
    const many = Array.from({ length: 1_001 }, (_, at) =>
      command(`refs/heads/slipway/${at}`, at === 0 ? '\0report-status' : ''),
    );
    const send = (body: Buffer, headers: Record<string, string> = {}) =>
      world.ask({
        host: HOST,
        method: 'POST',
        path: '/acme/app.git/git-receive-pack',
        headers: { 'content-type': 'application/x-git-receive-pack-request', ...headers },
        body,
      });
    const capable = '\0report-status side-band-64k';
    const good = 'refs/heads/slipway/x';
    for (const [body, words] of [
      [Buffer.concat([...many, FLUSH]), /ng refs\/heads\/slipway\/0 slipway: it (has more than 1000|names too many)/],
      [Buffer.concat([command(good, capable), command(good), FLUSH]), /names a reference twice/],
      [Buffer.concat([command(good, `${capable} push-options`), FLUSH]), /push options/],
      [
        Buffer.concat([command(good, capable), command('refs/heads/slipway/../main'), FLUSH]),
        /only refs\/heads\/slipway/,
      ],
      [Buffer.concat([command(good, capable), pktLine('push-cert\0x')]), /signed pushes and unknown commands/],
    ] as const) {
      expect(await send(body)).toMatchObject({ status: 200, text: expect.stringMatching(words) });
      const zipped = await send(gzipSync(body), { 'content-encoding': 'gzip' });
      expect(zipped).toMatchObject({ status: 200, text: expect.stringMatching(words) });
    }
    for (const body of [
      Buffer.from('PACK'),
      Buffer.from('0001'),
      Buffer.concat([FLUSH, Buffer.from('PACK')]),
      Buffer.from('00'),
    ])
      expect(await send(body)).toMatchObject({ status: 403, code: 'credential.unsupported' });
    expect(origin.seen).toEqual([]);
    expect((await send(FLUSH)).status).toBe(200);
    expect(origin.seen).toHaveLength(1);
  });

  it('at a place without branches reads alone', async () => {
    await give([]);
    const work = await clone();
    await commit(work, 'x');
    const { code, said } = await git('-C', work, 'push', 'origin', 'HEAD:refs/heads/slipway/x');
    expect(code).toBe(1);
    expect(said).toContain('slipway: nothing may be pushed here');
  });

  it('(B8) another repository is refused', async () => {
    const { code, said } = await git('clone', '-q', url('acme/secret.git'), 'secret');
    expect(code).not.toBe(0);
    expect(said).toContain('403');
    expect(said).toContain('is at no place of a credential');
    expect(origin.seen).toEqual([]);
  });

  it('(B9) LFS, the dumb protocol, archives and files by their URL are refused in words', async () => {
    for (const [method, at] of [
      ['POST', '/acme/app.git/info/lfs/objects/batch'],
      ['GET', '/acme/app.git/objects/info/packs'],
      ['GET', '/acme/app.git/HEAD'],
      ['GET', '/acme/app.git/info/refs'],
      ['GET', '/acme/app.git/info/refs?service=git-upload-archive'],
      ['POST', '/acme/app.git/git-upload-archive'],
    ] as const)
      expect(await world.ask({ host: HOST, method, path: at })).toMatchObject({
        status: 403,
        code: 'credential.unsupported',
      });
    for (const at of ['/acme/app/raw/main/README.md', '/acme/app.git/info/refs?service=git-upload-pack&x=y'])
      expect((await world.ask({ host: HOST, path: at })).status).toBe(403);
    expect(origin.seen).toEqual([]);
  });

  it('never hears a 401: git does not prompt, and prints which credential to mend', async () => {
    await give(['refs/heads/**'], { value: 'another-value-of-the-token' });
    const { code, said } = await git('clone', '-q', url('acme/app.git'), 'app');
    expect(code).not.toBe(0);
    expect(said).toContain('does not accept GIT_TOKEN');
    expect(said).not.toMatch(/Username|terminal prompts/);
  });
});

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Agent',
  GIT_AUTHOR_EMAIL: 'agent@example.com',
  GIT_COMMITTER_NAME: 'Agent',
  GIT_COMMITTER_EMAIL: 'agent@example.com',
};
