import { generateKeyPairSync } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ScriptedGitHub, type ScriptedInstallation } from '@slipway/integrations/testing';
import { until } from '@slipway/testing';
import { credential, type Origin, TestBroker } from '../../apps/credential-broker/dist/testing/test-broker.js';

const API = 'api.github.example';
const GIT = 'github.example';
const account = { id: 7, login: 'acme', type: 'Organization' as const };
const pair = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

describe('tokens of a GitHub App', () => {
  let world: TestBroker;
  let github: ScriptedGitHub;
  let api: Origin;
  let git: Origin;
  let installation: ScriptedInstallation;
  beforeAll(async () => {
    world = await TestBroker.start();
    github = await ScriptedGitHub.start();
    github.apps.set(1, {
      id: 1,
      slug: 'slipway',
      clientId: 'Iv23slipway',
      clientSecret: '',
      webhookSecret: '',
      pems: [pair.privateKey],
      owner: 'acme',
      manifest: {},
    });
    installation = {
      id: 42,
      appId: 1,
      account,
      repositories: ['acme/shop', 'acme/other'],
      permissions: { contents: 'write', pull_requests: 'write', metadata: 'read' },
      suspended: false,
    };
    github.installations.set(42, installation);
    // GitHub's API over https: its answers are those of the scripted one.
    api = await world.origin(API, (request, response) => {
      const sent = httpRequest(`${github.url}${request.url?.replace(/^\/api\/v3/, '')}`, {
        method: request.method ?? 'GET',
        headers: request.headers,
      });
      sent.once('response', (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      request.pipe(sent);
    });
    git = await world.origin(GIT, (request, response) => {
      request.resume().once('end', () => response.end('refs'));
    });
  });
  beforeEach(() => {
    for (const { seen } of [api, git]) seen.length = 0;
    github.minted.length = 0;
    installation.suspended = false;
  });
  afterAll(async () => {
    await world?.close();
    github?.close();
  });

  const give = async (more: object = {}, value: string = pair.privateKey) => {
    const one = credential(
      {
        form: 'github-app',
        appId: 'Iv23slipway',
        installationId: '42',
        apiUrl: `https://${API}:${api.port}/api/v3`,
        account: 'acme',
        repositories: ['shop'],
        places: [
          { host: GIT, port: git.port, git: {} },
          { host: API, port: api.port, paths: ['/api/v3/installation/**'] },
        ],
        ...more,
      },
      { value },
    );
    await world.give(one);
    return one;
  };
  const fetchRefs = (line: object = {}) =>
    world.ask({ host: GIT, path: '/acme/shop/info/refs?service=git-upload-pack', line });
  const calls = () => api.seen.map(({ method, url }) => `${method} ${url}`);

  it('are got with the key of the App, for one repository and the permissions, and are sent as each place takes them', async () => {
    const one = await give();
    const answers = await Promise.all(Array.from({ length: 5 }, () => fetchRefs()));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(github.minted).toMatchObject([
      {
        installation: 42,
        repositories: ['acme/shop'],
        permissions: { contents: 'write', pull_requests: 'write', metadata: 'read' },
      },
    ]);
    const token = github.minted[0]?.token ?? '';
    expect(git.seen[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`,
    );
    const { status, text } = await world.ask({ host: API, path: '/api/v3/installation/repositories' });
    expect([status, text]).toEqual([200, expect.stringContaining('acme/shop')]);
    expect(api.seen.at(-1)?.headers.authorization).toBe(`Bearer ${token}`);
    expect(github.minted).toHaveLength(1);
    expect(JSON.stringify([api.seen, git.seen])).not.toContain(one.value.split('\n')[1]);
  });

  it('adversary: no other conversation or sandbox is served with one of them', async () => {
    await give();
    for (const line of [{}, { conversation: 'cnv_2' }, { claim: 'clm_2' }, {}]) await fetchRefs(line);
    expect(github.minted).toHaveLength(3);
  });

  it('are given back to GitHub when the place has not taken one', async () => {
    await give({ places: [{ host: API, port: api.port }] });
    await world.ask({ host: API, path: '/api/v3/installation/repositories' });
    // GitHub does not know it any more.
    github.minted.length = 0;
    expect((await world.ask({ host: API, path: '/api/v3/installation/repositories' })).status).toBe(401);
    await until('it is given back', async () => calls().includes('DELETE /api/v3/installation/token'));
    await world.ask({ host: API, path: '/api/v3/installation/repositories' });
    expect(github.minted).toHaveLength(1);
  });

  it('adversary: a conversation without a repository of the account gets none, and GitHub is not asked', async () => {
    const one = await give({ repositories: [] });
    expect(await fetchRefs()).toMatchObject({
      status: 403,
      text: expect.stringContaining(`${one.name} is for the repository of the conversation`),
    });
    expect([calls(), git.seen]).toEqual([[], []]);
  });

  it.each<[string, object, string | undefined]>([
    ['a repository that the installation does not have', { repositories: ['secret'] }, undefined],
    ['more than the App may', { permissions: { contents: 'admin' } }, undefined],
    ['another installation', { installationId: '43' }, undefined],
    [
      'the key of another App',
      {},
      generateKeyPairSync('rsa', {
        modulusLength: 2048,
        publicKeyEncoding: { type: 'spki', format: 'pem' },
        privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      }).privateKey,
    ],
  ])('adversary: with %s nothing is issued, and nothing reaches the place', async (_, more, value) => {
    await give(more, value);
    expect(await fetchRefs()).toMatchObject({ status: 403, text: expect.stringContaining('issues no access token') });
    expect([github.minted.length, git.seen.length]).toEqual([0, 0]);
  });

  it('a token that is sent back is masked, as git’s password too', async () => {
    const echo = await world.origin('echo.example.com', (request, response) =>
      response.end(`${request.headers.authorization}`),
    );
    const one = await give({ places: [{ host: 'echo.example.com', port: echo.port }] });
    expect((await world.ask({ host: 'echo.example.com' })).text).toBe(`Bearer <secret:${one.name}>`);
  });

  it('adversary: an API at an address of the cluster is not asked', async () => {
    world.names.set('inside.example.com', ['10.0.0.7']);
    await give({ apiUrl: 'https://inside.example.com' });
    expect((await fetchRefs()).status).toBe(502);
    expect(git.seen).toHaveLength(0);
  });
});
