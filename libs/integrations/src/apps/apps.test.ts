import { generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ProviderClient } from '../calls/provider-client.js';
import { githubApp } from '../providers/github/app.js';
import { appJwt } from '../providers/github/app-jwt.js';
import { ScriptedGitHub } from '../testing/scripted-github.js';
import { type ScriptedAccount, type ScriptedInstallation } from '../testing/scripted-github-state.js';
import type { RegisteredApp } from './app-access.js';
import { type AskedToken, InstallationTokens } from './installation-tokens.js';

const OCTOCAT: ScriptedAccount = { id: 1, login: 'octocat', type: 'User' };
const ACME: ScriptedAccount = { id: 2, login: 'acme', type: 'Organization' };

jest.setTimeout(60_000);

describe('GitHub Apps', () => {
  let github: ScriptedGitHub;
  let app: RegisteredApp & { webhookSecret: string };
  let installation: ScriptedInstallation;
  let now = Date.now();
  const connect = (baseUrl: string, authorization: string | null): ProviderClient =>
    new ProviderClient({
      baseUrl,
      authorization,
      dispatch: (url, request) => fetch(url, request),
      now: () => new Date(now),
    });
  const api = (authorization: string | null = githubApp.authorization(app, new Date(now))): ProviderClient =>
    connect(`${github.url}/api/v3`, authorization);
  const registration = {
    ...{ baseUrl: '', owner: 'acme', name: 'Slipway of Acme', state: 'st', homeUrl: 'https://slipway.example' },
    ...{
      deliveriesUrl: 'http://127.0.0.1:9/d',
      registeredUrl: 'http://127.0.0.1:9/r',
      callbackUrls: ['http://127.0.0.1:9/i', 'http://127.0.0.1:9/l'],
    },
  };
  const register = async (): Promise<typeof app> => {
    const form = githubApp.registration({ ...registration, baseUrl: github.url });
    const back = await github.confirmManifest(form.action, form.fields['manifest'] ?? '');
    return githubApp.register(api(null), back.searchParams.get('code') ?? '');
  };
  const asked = (change: Partial<AskedToken> = {}): AskedToken => ({
    ...{
      access: githubApp,
      app,
      connect: (authorization) => api(authorization),
      connectionId: 'c',
      installationId: String(installation.id),
    },
    ...{ granted: installation.permissions, repository: 'acme/shop', step: 'publish' },
    ...change,
  });

  beforeAll(async () => {
    github = await ScriptedGitHub.start();
    github.now = () => now;
    app = await register();
    github.roles.set('octocat acme', 'admin');
    const url = githubApp.installUrl({ baseUrl: github.url, slug: app.slug, state: 's' });
    ({ installation } = github.install(url, OCTOCAT, ACME, ['acme/shop', 'acme/docs']));
  });
  afterAll(() => github?.close());
  afterEach(() => {
    github.tokenForm = 'classic';
    github.minted.length = 0;
  });

  it('asks in the manifest for what the steps need, and neither for workflows nor for administration', () => {
    const form = githubApp.registration({ ...registration, baseUrl: 'https://github.com' });
    expect(form.action).toBe('https://github.com/organizations/acme/settings/apps/new?state=st');
    expect(githubApp.registration({ ...registration, baseUrl: 'https://github.com', owner: null }).action).toBe(
      'https://github.com/settings/apps/new?state=st',
    );
    const manifest = JSON.parse(form.fields['manifest'] ?? '');
    expect(manifest).toMatchObject({
      public: false,
      request_oauth_on_install: true,
      hook_attributes: { url: 'http://127.0.0.1:9/d', active: true },
    });
    expect(manifest.default_permissions).toEqual({
      ...{
        metadata: 'read',
        contents: 'write',
        issues: 'write',
        pull_requests: 'write',
        checks: 'write',
        statuses: 'write',
        actions: 'read',
        members: 'read',
      },
    });
    for (const event of [
      'issues',
      'issue_comment',
      'pull_request_review_thread',
      'check_run',
      'workflow_run',
      'push',
      'member',
      'organization',
    ])
      expect(manifest.default_events).toContain(event);
  });

  it('redeems the code of a registration once', async () => {
    expect(app).toMatchObject({
      slug: 'slipway-of-acme',
      owner: 'acme',
      privateKey: expect.stringContaining('BEGIN RSA PRIVATE KEY'),
    });
    await expect(githubApp.register(api(null), 'no-such-code')).rejects.toMatchObject({ kind: 'missing' });
  });

  it('authenticates the app by a JWT that GitHub takes, whose clock may differ by a minute', async () => {
    const claims = JSON.parse(Buffer.from(appJwt(app, new Date(now)).split('.')[1] ?? '', 'base64url').toString());
    const at = Math.floor(now / 1000);
    expect(claims).toEqual({ iat: at - 60, exp: at + 540, iss: app.clientId });
    expect(await githubApp.installation(api(), String(installation.id))).toMatchObject({
      account: { id: '2', login: 'acme', kind: 'organization' },
    });
    for (const ahead of [-59_000, 59_000]) {
      const authorization = githubApp.authorization(app, new Date(now + ahead));
      expect((await githubApp.installation(api(authorization), String(installation.id))).id).toBe(
        String(installation.id),
      );
    }
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    const foreign = githubApp.authorization({ ...app, privateKey }, new Date(now));
    await expect(githubApp.installation(api(foreign), '1')).rejects.toMatchObject({ kind: 'credential' });
  });

  it('narrows each token to one repository and to the rights of its step', async () => {
    const tokens = new InstallationTokens(() => new Date(now));
    for (const step of ['read', 'publish', 'threads', 'answer', 'rights'] as const) await tokens.get(asked({ step }));
    await tokens.get(asked({ step: 'list', repository: null }));
    expect(github.minted.map(({ repositories, permissions }) => [repositories, permissions])).toEqual([
      [['acme/shop'], { metadata: 'read', contents: 'read' }],
      [
        ['acme/shop'],
        { metadata: 'read', contents: 'write', pull_requests: 'write', checks: 'read', statuses: 'read' },
      ],
      [['acme/shop'], { metadata: 'read', issues: 'read', pull_requests: 'read' }],
      [['acme/shop'], { metadata: 'read', issues: 'write', pull_requests: 'write' }],
      [['acme/shop'], { metadata: 'read', members: 'read' }],
      [null, { metadata: 'read' }],
    ]);
    await expect(tokens.get(asked({ step: 'read', repository: null }))).rejects.toThrow('for their names alone');
  });

  it('asks for no right that the installation has not, and says which one is missing', async () => {
    const tokens = new InstallationTokens(() => new Date(now));
    const granted = { metadata: 'read', contents: 'read' };
    await tokens.get(asked({ step: 'rights', granted }));
    expect(github.minted.at(-1)?.permissions).toEqual({ metadata: 'read' });
    await expect(tokens.get(asked({ granted }))).rejects.toMatchObject({
      kind: 'forbidden',
      message: 'the installation has not been given contents: write',
    });
    expect(githubApp.missing({ ...installation.permissions, contents: 'read' })).toEqual(['contents: write']);
    expect(githubApp.missing(installation.permissions)).toEqual([]);
  });

  it('refuses a token for a repository of the same name that another account owns', async () => {
    const tokens = new InstallationTokens(() => new Date(now));
    await expect(tokens.get(asked({ repository: 'rival/shop' }))).rejects.toMatchObject({ kind: 'missing' });
  });

  it('makes one token for all who ask meanwhile, until five minutes before its end', async () => {
    const tokens = new InstallationTokens(() => new Date(now));
    const many = await Promise.all(Array.from({ length: 20 }, () => tokens.get(asked())));
    expect([new Set(many.map(({ token }) => token)).size, github.minted.length]).toEqual([1, 1]);
    const began = now;
    now += 54 * 60_000;
    await tokens.get(asked());
    expect(github.minted.length).toBe(1);
    now += 2 * 60_000;
    await tokens.get(asked());
    expect(github.minted.length).toBe(2);
    now = began;
    await tokens.get(asked({ repository: 'ACME/Shop' }));
    expect(github.minted.length).toBe(2);
    await tokens.get(asked({ connectionId: 'another organization’s' }));
    tokens.drop(asked());
    await tokens.get(asked());
    expect(github.minted.length).toBe(4);
  });

  it('holds nothing of an attempt that failed', async () => {
    const tokens = new InstallationTokens(() => new Date(now));
    const path = `/app/installations/${installation.id}/access_tokens`;
    github.broken.set(path, (response) => void response.writeHead(502).end());
    await expect(Promise.all([tokens.get(asked()), tokens.get(asked())])).rejects.toMatchObject({
      kind: 'unavailable',
    });
    github.broken.clear();
    expect((await tokens.get(asked())).token).toMatch(/^ghs_/);
  });

  it('takes tokens of both forms as they are', async () => {
    const tokens = new InstallationTokens(() => new Date(now));
    expect((await tokens.get(asked())).token).toHaveLength(40);
    github.tokenForm = 'stateless';
    const { token } = await tokens.get(asked({ step: 'list', repository: null }));
    expect([token.length, token.split('.').length]).toEqual([expect.any(Number), 3]);
    expect(token.length).toBeGreaterThan(500);
    expect(await githubApp.countRepositories(api(`Bearer ${token}`))).toBe(2);
    expect(await githubApp.bot(api(`Bearer ${token}`), app)).toMatchObject({ login: 'slipway-of-acme[bot]' });
  });

  it('lists attempts of deliveries page by page, without following an address', async () => {
    for (let index = 0; index < 3; index += 1)
      await github.deliver(Number(app.id), 'ping', { zen: index }, { lost: true });
    const { list } = githubApp.deliveries(api());
    const { items, next } = await list(null);
    expect([items.map(({ succeeded, event }) => [succeeded, event]), next]).toEqual([
      Array.from({ length: 3 }, () => [false, 'ping']),
      null,
    ]);
  });

  it('are called in GitHub’s cloud at its own host for the API, and on a server below its pages', () => {
    for (const [baseUrl, api, pages] of [
      ['https://github.com', 'https://api.github.com', '/apps/'],
      ['https://octocorp.ghe.com', 'https://api.octocorp.ghe.com', '/apps/'],
      ['https://github.corp.example', 'https://github.corp.example/api/v3', '/github-apps/'],
      // None of GitHub's: no host is made up from it.
      ['https://a.b.ghe.com', 'https://a.b.ghe.com/api/v3', '/github-apps/'],
      ['https://octocorp.ghe.com.example', 'https://octocorp.ghe.com.example/api/v3', '/github-apps/'],
      ['https://octocorp.ghe.com:8443', 'https://octocorp.ghe.com:8443/api/v3', '/github-apps/'],
      ['http://octocorp.ghe.com', 'http://octocorp.ghe.com/api/v3', '/github-apps/'],
    ] as const) {
      expect([baseUrl, githubApp.apiUrl(baseUrl)]).toEqual([baseUrl, api]);
      expect(githubApp.installUrl({ baseUrl, slug: 'slipway', state: 's' })).toBe(
        `${baseUrl}${pages}slipway/installations/new?state=s`,
      );
    }
  });
});
