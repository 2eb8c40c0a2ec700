import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect as connectTcp, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { GitTokens } from '@slipway/auth/git-token';
import { IngestTokens } from '@slipway/auth/ingest-token';
import type { SandboxSecrets } from '@slipway/contracts/agent';
import type { ConnectionWithSecret } from '@slipway/contracts/integrations';
import { grantRepository } from '@slipway/db/conversations';
import { createPool, inOrg, type SqlPool } from '@slipway/db/sql';
import { until } from '@slipway/testing';
import { type Gitea, type GiteaRepository, type GiteaUser, missingForGitea, startGitea } from '@slipway/testing/gitea';
import { describeUnless } from '@slipway/testing/jest';
import { gitCredentialEnv } from '../../apps/agent-server/dist/sandbox/git-credentials.js';
import { FEATURES } from '../../apps/app-server/dist/app.module.js';
import { ConversationApp, type User } from '../../apps/app-server/dist/testing/conversation-app.js';
import { GitRelays } from '../../apps/worker/dist/start/git-relays.js';

const missing = await missingForGitea();
if (missing !== null) console.log(`${missing} What needs a real git host is not run.`);
const run = promisify(execFile);
const SECRET = 'an ingest secret of the test, long enough';
type Relay = NonNullable<SandboxSecrets['relays']>[number];

describeUnless(missing)('a private repository that a sandbox reads without a credential of its host', () => {
  let gitea: Gitea;
  let ada: GiteaUser;
  let shop: GiteaRepository;
  let app: ConversationApp;
  let olga: User;
  let connection: string;
  let pool: SqlPool;
  let folder: string;
  let conversation: string;
  let relay: Relay;
  let hostile: Server;
  /** What the hostile host was asked, and how it answers. */
  const asked: IncomingMessage[] = [];
  let answer: (request: IncomingMessage) => { status: number; headers?: Record<string, string>; body?: string } =
    () => ({ status: 404 });

  beforeAll(async () => {
    if (missing !== null) return;
    gitea = await startGitea({ say: console.log });
    ada = await gitea.admin.createUser('ada');
    shop = await ada.createRepository({
      name: 'shop',
      private: true,
      files: { 'total.js': 'export const total = 1;\n' },
    });
    await ada.createRepository({ name: 'salaries', private: true, files: { 'all.csv': 'olga,1\n' } });
    hostile = createServer((request, response) => {
      asked.push(request);
      const { status, headers = {}, body = '' } = answer(request);
      response.writeHead(status, headers).end(body);
    });
    await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve));
    const host = new URL(gitea.url).host;
    app = await ConversationApp.start({
      features: FEATURES,
      env: { INGEST_SECRET: SECRET, INTEGRATION_PRIVATE_HOSTS: `${host},${hostileHost()}` },
    });
    olga = await app.user('Olga');
    connection = await connect(host, await ada.createToken('slipway', ['read:repository']), gitea.url);
    pool = createPool({ url: app.database.urls.app, max: 4, applicationName: 'test', onError: () => {} });
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-relay-'));
    conversation = (await app.conversation(olga)).id;
    relay = await granted(conversation, connection, 'ada/shop');
  });
  afterAll(async () => {
    await pool?.end();
    await app?.close();
    await gitea?.close();
    hostile?.closeAllConnections();
    hostile?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  const hostileHost = (): string => `127.0.0.1:${(hostile.address() as AddressInfo).port}`;
  const connect = async (host: string, token: string, baseUrl: string): Promise<string> => {
    const body = {
      provider: 'gitea',
      kind: 'token',
      name: `Git at ${host} ${randomUUID().slice(0, 8)}`,
      host,
      token,
      settings: { baseUrl },
    };
    const made = await app.http<ConnectionWithSecret>(
      olga,
      'POST',
      `/api/v1/orgs/${olga.orgId}/integrations/connections`,
      body,
    );
    expect([made.status, made.body]).toEqual([201, expect.anything()]);
    return made.body.connection.id;
  };
  const epochOf = async (id: string): Promise<number> =>
    (await app.owner.query<{ epoch: number }>('SELECT epoch FROM app.conversation WHERE id = $1', [id])).rows[0]
      ?.epoch ?? -1;
  const granted = async (id: string, connectionId: string, fullName: string): Promise<Relay> => {
    await inOrg(pool, olga.orgId, (client) => grantRepository(client, olga.orgId, id, { connectionId, fullName }));
    const relays = await new GitRelays(pool, new GitTokens(SECRET), app.url).of(
      { orgId: olga.orgId, id, epoch: await epochOf(id) },
      [],
    );
    const found = relays.find(({ repository }) => repository.endsWith(fullName));
    if (found === undefined) throw new Error('no relay');
    return found;
  };
  /** As a command in the sandbox runs git. */
  const git = async (
    args: readonly string[],
    cwd: string,
    relays: readonly Relay[] = [relay],
  ): Promise<{ ok: boolean; said: string }> => {
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      GIT_TERMINAL_PROMPT: '0',
      GIT_CONFIG_NOSYSTEM: '1',
      ...gitCredentialEnv([], [...relays]),
    };
    return run('git', [...args], { cwd, env }).then(
      ({ stdout, stderr }) => ({ ok: true, said: stdout + stderr }),
      (error: { stdout: string; stderr: string }) => ({ ok: false, said: error.stdout + error.stderr }),
    );
  };
  const ask = (
    rest: string,
    {
      token = relay.token,
      method = 'GET',
      id = conversation,
      via = connection,
      body,
    }: { token?: string; method?: string; id?: string; via?: string; body?: string } = {},
  ) =>
    fetch(`${app.url}/ingest/v1/conversations/${id}/git/${via}/${rest}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/x-git-upload-pack-request' }),
      },
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
    });
  const refs = 'info/refs?service=git-upload-pack';

  it('clones, fetches more and goes on after a push of others, and its remote is the address that people know', async () => {
    const copy = path.join(folder, 'shop');
    const url = `${gitea.url}/ada/shop`;
    expect(await git(['clone', '-q', '--depth', '1', url, copy], folder)).toEqual({ ok: true, said: '' });
    expect(await readFile(path.join(copy, 'total.js'), 'utf8')).toBe('export const total = 1;\n');
    expect((await git(['remote', 'get-url', '--all', 'origin'], copy, [])).said.trim()).toBe(url);
    expect(await readFile(path.join(copy, '.git', 'config'), 'utf8')).not.toContain(relay.token);
    for (let index = 0; index < 3; index += 1)
      await shop.commit({ message: `Change ${index}`, files: { [`file-${index}.txt`]: `${index}\n` } });
    expect(await git(['pull', '-q', '--unshallow'], copy)).toEqual({ ok: true, said: '' });
    expect((await git(['rev-list', '--count', 'HEAD'], copy)).said.trim()).toBe('4');
    // With the ending that many people write.
    expect(await git(['ls-remote', `${url}.git`], folder)).toMatchObject({ ok: true });
  });

  it('is not there without the relay: the host asks for a password', async () => {
    expect(await git(['ls-remote', `${gitea.url}/ada/shop`], folder, [])).toMatchObject({ ok: false });
  });

  it('adversary: a sandbox that pushes is refused in words, and nothing changes', async () => {
    const copy = path.join(folder, 'pushing');
    await git(['clone', '-q', `${gitea.url}/ada/shop`, copy], folder);
    await git(['-c', 'user.name=x', '-c', 'user.email=x@y.z', 'commit', '-q', '--allow-empty', '-m', 'Mine'], copy);
    const { ok, said } = await git(['push', 'origin', 'HEAD:refs/heads/main'], copy);
    expect([ok, said]).toEqual([false, expect.stringContaining('Slipway pushes for this conversation')]);
    const direct = await ask('ada/shop.git/git-receive-pack', { method: 'POST' });
    expect([direct.status, await direct.text()]).toEqual([403, expect.stringContaining('Nothing was pushed')]);
    expect((await git(['ls-remote', `${gitea.url}/ada/shop`, 'refs/heads/main'], folder)).said).not.toContain(
      (await git(['rev-parse', 'HEAD'], copy)).said.trim(),
    );
  });

  it('adversary: a sandbox reads no other repository, page or API of the host through it', async () => {
    for (const rest of [
      'ada/salaries',
      'ada/salaries.git',
      'ada/shop/../salaries',
      'ada/shop%2f..%2fsalaries',
      'ada/shop%252f..%252fsalaries',
      'ada//shop',
      'ada/shop.git/..',
      'ada',
    ])
      expect([rest, (await ask(`${rest}/${refs}`)).status]).toEqual([rest, 404]);
    for (const rest of [
      'ada/shop/raw/branch/main/total.js',
      'api/v1/user',
      'ada/shop.git/objects/info/packs',
      'ada/shop.git/HEAD',
      'ada/shop/archive/main.zip',
    ])
      expect([rest, [403, 404].includes((await ask(rest)).status)]).toEqual([rest, true]);
    expect((await ask('ada/shop/info/refs')).status).toBe(403);
    expect((await ask(`ada/shop/git-upload-pack`)).status).toBe(403);
  });

  it('adversary: tokens of another conversation, of another purpose, of another installation and none at all read nothing', async () => {
    const other = (await app.conversation(olga)).id;
    const tokens = new GitTokens(SECRET);
    const ofOther = await tokens.sign({ org: olga.orgId, conversation: other, epoch: 0 }, 60);
    expect((await ask(`ada/shop/${refs}`, { token: ofOther })).status).toBe(404);
    expect((await ask(`ada/shop/${refs}`, { token: ofOther, id: other })).status).toBe(404);
    const stranger = await app.user('Stranger');
    expect(
      (await ask(`ada/shop/${refs}`, { token: await tokens.sign({ org: stranger.orgId, conversation, epoch: 0 }, 60) }))
        .status,
    ).toBe(404);
    const ingest = await new IngestTokens(SECRET).sign({ org: olga.orgId, conversation, epoch: 1 }, 60);
    for (const token of [
      '',
      'x',
      ingest,
      await new GitTokens('another secret of thirty-two characters').sign(
        { org: olga.orgId, conversation, epoch: 0 },
        60,
      ),
      await tokens.sign({ org: olga.orgId, conversation, epoch: 0 }, -1),
    ])
      expect((await ask(`ada/shop/${refs}`, { token })).status).toBe(403);
    // And the other way round: what reads repositories writes no log.
    const events = await fetch(`${app.url}/ingest/v1/conversations/${conversation}/events`, {
      headers: { authorization: `Bearer ${relay.token}` },
    });
    expect(events.status).toBe(401);
  });

  it('adversary: a host that sends elsewhere, repeats what it was sent, or asks for a password gets the credential once and gives nothing back', async () => {
    const host = hostileHost();
    const via = await connect(host, 'the-token-of-the-hostile-host', `http://${host}`);
    const id = (await app.conversation(olga)).id;
    const { token } = await granted(id, via, 'ada/shop');
    const secret = Buffer.from('slipway:the-token-of-the-hostile-host').toString('base64');
    const cases: ReadonlyArray<[ReturnType<typeof answer>, number, RegExp]> = [
      [{ status: 301, headers: { location: `${gitea.url}/ada/shop.git/info/refs` } }, 502, /another address/],
      [{ status: 401, headers: { 'www-authenticate': 'Basic' }, body: secret }, 502, /enters a new one/],
      [{ status: 403, body: secret }, 502, /does not let/],
      [{ status: 404 }, 502, /does not let/],
      [{ status: 429, headers: { 'retry-after': '7' } }, 503, /limits our calls/],
      [{ status: 500, body: secret }, 503, /does not answer/],
    ];
    for (const [given, status, words] of cases) {
      answer = () => given;
      asked.length = 0;
      const got = await ask(`ada/shop/${refs}`, { token, id, via });
      const text = await got.text();
      expect([given.status, asked.length, asked[0]?.headers.authorization]).toEqual([
        given.status,
        1,
        `Basic ${secret}`,
      ]);
      expect([given.status, text]).toEqual([given.status, expect.stringMatching(words)]);
      expect(text + JSON.stringify([...got.headers])).not.toContain(secret);
      expect([given.status, got.status, got.headers.get('www-authenticate')]).toEqual([given.status, status, null]);
    }
    expect(asked.every(({ headers }) => !String(headers['cookie'] ?? '').includes('keycloak'))).toBe(true);
  });

  it('adversary: a token that was carried out of a sandbox reads nothing once that sandbox was replaced or is paused', async () => {
    const id = (await app.conversation(olga)).id;
    const { token } = await granted(id, connection, 'ada/shop');
    const read = async () => (await ask(`ada/shop/${refs}`, { token, id })).status;
    expect(await read()).toBe(200);
    await app.owner.query(`UPDATE app.conversation SET desired = 'rest' WHERE id = $1`, [id]);
    expect(await read()).toBe(404);
    await app.owner.query(`UPDATE app.conversation SET desired = 'run' WHERE id = $1`, [id]);
    expect(await read()).toBe(200);
    await app.owner.query('UPDATE app.conversation SET epoch = epoch + 1 WHERE id = $1', [id]);
    expect(await read()).toBe(404);
  });

  it('adversary: who has no token, or hangs up at once, takes neither memory nor room', async () => {
    const at = new URL(`${app.url}/ingest/v1/conversations/${conversation}/git/${connection}/ada/shop/git-upload-pack`);
    const begin = (authorization: string) =>
      new Promise<Socket>((resolve) => {
        const socket = connectTcp(Number(at.port), at.hostname, () => {
          const head = [
            `POST ${at.pathname} HTTP/1.1`,
            `host: ${at.host}`,
            `authorization: ${authorization}`,
            'content-type: application/x-git-upload-pack-request',
          ];
          socket.write(`${head.join('\r\n')}\r\ncontent-length: 8000000\r\n\r\n`, () => resolve(socket));
        });
        socket.on('error', () => {});
      });
    // Refused at the head: not a byte of eight megabytes is asked for.
    const stranger = await begin('Bearer none');
    const said = await new Promise<string>((resolve) => stranger.once('data', (data) => resolve(String(data))));
    expect(said).toMatch(/^HTTP\/1\.1 403/);
    stranger.destroy();
    for (let index = 0; index < 60; index += 1) (await begin(`Bearer ${relay.token}`)).destroy();
    await until('there is room', async () => (await ask(`ada/shop/${refs}`)).status === 200);
  });

  it('ends with the connection: disabled, without a token, and gone', async () => {
    const via = await connect(new URL(gitea.url).host, await ada.createToken('second', ['read:repository']), gitea.url);
    const id = (await app.conversation(olga)).id;
    const { token } = await granted(id, via, 'ada/shop');
    const at = `/api/v1/orgs/${olga.orgId}/integrations/connections/${via}`;
    const read = () => ask(`ada/shop/${refs}`, { token, id, via });
    expect((await read()).status).toBe(200);
    expect((await app.http(olga, 'PATCH', at, { disabled: true })).status).toBe(200);
    expect(await (await read()).text()).toContain('disabled');
    expect((await app.http(olga, 'PATCH', at, { disabled: false, token: null })).status).toBe(200);
    expect(await (await read()).text()).toContain('no access token');
    expect((await app.http(olga, 'DELETE', at)).status).toBeLessThan(300);
    expect((await read()).status).toBe(404);
  });
});
