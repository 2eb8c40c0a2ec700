import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { User } from '../../apps/app-server/dist/testing/conversation-app.js';
import { CLAIMS } from '../../apps/egress-proxy/dist/testing/test-egress.js';
import { OpenedWorld } from './opened-world.ts';
import type { Sandbox } from './world.ts';

jest.setTimeout(60_000);
const run = promisify(execFile);
const DAY_MS = 86_400_000;
const ago = (days: number): string => new Date(Date.now() - days * DAY_MS).toUTCString();

/** A registry: by `/KIND/…` it answers with a file of an age, or with what is none. */
const ANSWERS: Readonly<Record<string, () => readonly [status: number, headers: Record<string, string>]>> = {
  new: () => [200, { 'content-type': 'application/octet-stream', 'last-modified': ago(2) }],
  old: () => [200, { 'content-type': 'application/octet-stream', 'last-modified': ago(8) }],
  ahead: () => [200, { 'content-type': 'application/gzip', 'last-modified': ago(-30) }],
  ageless: () => [200, { 'content-type': 'application/zip' }],
  untyped: () => [200, { 'last-modified': ago(1) }],
  nonsense: () => [200, { 'content-type': 'application/zip', 'last-modified': 'a while ago' }],
  script: () => [200, { 'content-type': 'text/javascript', 'last-modified': ago(1) }],
  part: () => [206, { 'content-type': 'application/octet-stream', 'last-modified': ago(1) }],
  index: () => [200, { 'content-type': 'application/vnd.pypi.simple.v1+json', 'last-modified': ago(0) }],
  page: () => [200, { 'content-type': 'text/html; charset=utf-8' }],
  same: () => [304, { 'last-modified': ago(1) }],
  else: () => [302, { location: '/old/file' }],
};

describe('files of a package host with a minimum age of seven days', () => {
  let world: OpenedWorld;
  let ada: User;
  let sandbox: Sandbox;
  let folder = '';
  let files: Readonly<Record<string, { readonly bytes: Buffer; readonly days: number }>> = {};

  const answer = ({ url = '' }: IncomingMessage, response: ServerResponse): void => {
    const [, kind = ''] = url.split('/');
    const [status, headers] = ANSWERS[kind]?.() ?? [404, {}];
    if (kind === 'padded') packages(url, response);
    else response.writeHead(status, headers).end(status === 304 ? undefined : `bytes of ${kind}`);
  };
  /** Of npm: `padded` has an old version and a new one, which is its latest. */
  const packages = (url: string, response: ServerResponse): void => {
    const [, version = ''] = /\/-\/padded-(.*)\.tgz$/.exec(url) ?? [];
    const file = files[version];
    if (file !== undefined) {
      const headers = { 'content-type': 'application/octet-stream', 'last-modified': ago(file.days) };
      response.writeHead(200, headers).end(file.bytes);
      return;
    }
    const versions = Object.keys(files).map((each) => [
      each,
      {
        name: 'padded',
        version: each,
        dist: { tarball: `https://${world.target('git.example')}/padded/-/padded-${each}.tgz` },
      },
    ]);
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(
        JSON.stringify({ name: 'padded', 'dist-tags': { latest: '2.0.0' }, versions: Object.fromEntries(versions) }),
      );
  };
  const change = (settings: object) =>
    world.app.http(ada, 'PATCH', `/api/v1/orgs/${ada.orgId}/settings`, settings as Record<string, unknown>);
  const ask = (host: string, kind: string, method = 'GET') => world.ask(sandbox, host, method, `/${kind}/file`);

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-packages-'));
    // `git.example` is on the installation's list.
    world = await OpenedWorld.start(['git.example', 'files.cdn.example', 'rule.example'], 20, answer);
    ada = await world.app.user('Ada');
    sandbox = await world.sandbox(ada);
    await world.rule(ada, 'files.cdn.example', {});
    await world.rule(ada, 'rule.example', { methods: ['GET', 'HEAD'] });
  });
  afterAll(async () => {
    await world?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('is refused without hosts, with what is no host, and by a member', async () => {
    expect((await change({ packageMinAgeDays: 7 })).body).toMatchObject({ fields: [{ path: 'packageHosts' }] });
    for (const host of ['https://git.example', 'git.example:443', '127.0.0.1', 'localhost', '*', 'a b.example', ''])
      expect([host, (await change({ packageHosts: [host] })).status]).toEqual([host, 400]);
    const bob = await world.app.user('Bob');
    await world.app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')", [
      ada.orgId,
      bob.userId,
    ]);
    const { status } = await world.app.http(bob, 'PATCH', `/api/v1/orgs/${ada.orgId}/settings`, {
      packageMinAgeDays: null,
    });
    expect(status).toBe(403);
  });

  it('passes unopened before it is set, and a tunnel that is open then is cut within a second', async () => {
    expect(await ask('git.example', 'new')).toMatchObject({ status: 200, opened: false });
    const open = await world.secure(sandbox, 'git.example');
    const cut = new Promise((resolve) => open.once('close', resolve));
    const set = await change({ packageMinAgeDays: 7, packageHosts: ['GIT.example', '*.cdn.example', 'rule.example'] });
    expect([set.status, set.body]).toEqual([
      200,
      expect.objectContaining({ packageHosts: ['git.example', '*.cdn.example', 'rule.example'] }),
    ]);
    const since = performance.now();
    await cut;
    expect(performance.now() - since).toBeLessThan(1_000);
  });

  it('lets old files and lists of packages in, whatever permits the host, and keeps new ones away', async () => {
    for (const host of ['git.example', 'files.cdn.example', 'rule.example']) {
      for (const kind of ['old', 'index', 'page', 'same', 'else'])
        expect([host, kind, await ask(host, kind)]).toEqual([
          host,
          kind,
          expect.objectContaining({ status: ANSWERS[kind]?.()[0], opened: true }),
        ]);
      for (const kind of ['new', 'ahead', 'ageless', 'untyped', 'nonsense', 'script', 'part']) {
        const refused = await ask(host, kind);
        expect([host, kind, refused]).toEqual([
          host,
          kind,
          expect.objectContaining({ status: 403, code: 'egress.package-too-new' }),
        ]);
        expect(refused.text).not.toContain('bytes of');
      }
      expect((await ask(host, 'new', 'HEAD')).status).toBe(200);
    }
    expect((await ask('git.example', 'new')).text).toContain(
      `Files of git.example are let through 7 days after they were published; it was published on ${new Date(ago(2)).toISOString().slice(0, 10)}.`,
    );
  });

  it('holds against a member who allows the host for their conversation, and in clear', async () => {
    const { status } = await world.rule(ada, 'git.example', {
      scope: 'conversation',
      scopeValue: sandbox.conversation,
    });
    expect(status).toBe(201);
    expect(await ask('git.example', 'new')).toMatchObject({ status: 403, code: 'egress.package-too-new' });
    const clear = await world.connect(sandbox, 'git.example:80');
    expect([clear.status, clear.problem.reason]).toEqual([403, 'in-clear']);
  });

  it('has npm install an old version and says of a new one why not', async () => {
    const work = path.join(folder, 'work');
    await mkdir(work);
    files = Object.fromEntries(
      await Promise.all(
        (
          [
            ['1.0.0', 30],
            ['2.0.0', 1],
          ] as const
        ).map(async ([version, days]) => {
          const source = path.join(folder, version, 'package');
          await mkdir(source, { recursive: true });
          await writeFile(path.join(source, 'package.json'), JSON.stringify({ name: 'padded', version }));
          const file = path.join(folder, `${version}.tgz`);
          await run('tar', ['-czf', file, '-C', path.dirname(source), 'package']);
          return [version, { bytes: await readFile(file), days }] as const;
        }),
      ),
    );
    await writeFile(path.join(folder, 'ca.pem'), world.broker.authority.cert);
    const proxy = new URL(world.proxy.proxy.url);
    proxy.username = 'sandbox';
    proxy.password = world.proxy.password({ ...CLAIMS, ...sandbox });
    const install = (what: string) =>
      run(
        'npm',
        [
          'install',
          what,
          '--registry',
          `https://${world.target('git.example')}/`,
          '--no-audit',
          '--no-fund',
          '--fetch-retries=0',
        ],
        {
          cwd: work,
          env: {
            PATH: process.env['PATH'],
            HOME: folder,
            HTTPS_PROXY: proxy.href,
            NODE_EXTRA_CA_CERTS: path.join(folder, 'ca.pem'),
            NPM_CONFIG_CACHE: path.join(folder, 'cache'),
          },
          timeout: 50_000,
        },
      ).then(
        () => 'installed',
        (error: { readonly stderr: string }) => error.stderr,
      );
    const refused = await install('padded');
    expect(refused).toContain('403');
    expect(refused).toContain('days after they were published');
    expect(await install('padded@1.0.0')).toBe('installed');
  });

  it('ends with the setting: the host is not opened any more', async () => {
    expect((await change({ packageMinAgeDays: null })).status).toBe(200);
    await world.eventually('it passes unopened', async () => {
      const { status, opened } = await ask('git.example', 'new');
      return status === 200 && !opened;
    });
  });
});
