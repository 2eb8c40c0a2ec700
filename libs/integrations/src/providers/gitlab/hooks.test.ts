import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { DEVELOPER, type GitLabProject, type GitLabUser, MAINTAINER, ScriptedGitLab } from '@slipway/testing/gitlab';
import { ProviderClient } from '../../calls/provider-client.js';
import type { RepositoryHooks } from '../../calls/repository-hooks.js';
import { gitlab } from './index.js';

const ADDRESS = 'https://slipway.example/api/integration/gitlab/events/c1';
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const SETTINGS = { url: ADDRESS, secret: SECRET, signature: 'signed', confidential: false };

describe('webhooks that are made at a scripted GitLab', () => {
  let host: ScriptedGitLab;
  let ada: GitLabUser;
  let bot: GitLabUser;
  let shop: GitLabProject;
  let made = 0;
  beforeAll(async () => {
    host = await ScriptedGitLab.start();
    [ada, bot] = [host.user('ada'), host.user('project_1_bot')];
  });
  beforeEach(async () => {
    host.signsWebhooks = true;
    host.broken = null;
    made += 1;
    shop = await host.project({ path: `acme/web/shop-${made}`, owner: ada });
    shop.members.set(bot.id, MAINTAINER);
  });
  afterAll(() => host?.close());

  const hooks = (scope = 'api'): RepositoryHooks => {
    const access = gitlab.codeHost;
    return access?.hooks?.(client(scope)) as RepositoryHooks;
  };
  const client = (scope = 'api'): ProviderClient => {
    const baseUrl = gitlab.codeHost?.apiUrl(host.url) ?? '';
    return new ProviderClient({
      baseUrl,
      authorization: `Bearer ${host.token(bot, scope)}`,
      dispatch: fetch,
      now: () => new Date(),
    });
  };

  it('are signed, deliver no push and nothing confidential, and there is one however often it is asked for', async () => {
    const first = await hooks().install(shop.path.toUpperCase(), SETTINGS);
    expect(first).toEqual({ id: String(shop.hooks[0]?.id), fullName: shop.path, signature: 'signed' });
    expect(shop.hooks[0]).toMatchObject({ url: ADDRESS, signingToken: SECRET, token: null });
    const on = Object.entries(shop.hooks[0]?.events ?? {}).filter(([, wanted]) => wanted);
    expect(on.map(([event]) => event).sort()).toEqual([
      'issues_events',
      'merge_requests_events',
      'note_events',
      'pipeline_events',
    ]);
    shop.hooks.push({ ...(shop.hooks[0] as (typeof shop.hooks)[0]), id: 5 });
    const other = { ...SETTINGS, secret: `whsec_${Buffer.alloc(32, 2).toString('base64')}`, confidential: true };
    expect(await hooks().install(shop.path, other)).toEqual(first);
    expect(shop.hooks).toMatchObject([
      { signingToken: other.secret, events: { confidential_issues_events: true, confidential_note_events: true } },
    ]);
  });

  it('have the secret as a token where GitLab takes a signing token and does not sign', async () => {
    host.signsWebhooks = false;
    expect(await hooks().install(shop.path, SETTINGS)).toMatchObject({ signature: 'token' });
    expect(shop.hooks).toMatchObject([{ token: SECRET, signingToken: null }]);
    expect(await hooks().install(shop.path, { ...SETTINGS, signature: 'token' })).toMatchObject({ signature: 'token' });
    expect(shop.hooks).toHaveLength(1);
  });

  it('are seen as active, switched off by GitLab, or gone, and one that is switched off is replaced', async () => {
    expect(await hooks().look(shop.path, ADDRESS)).toBe('missing');
    await hooks().install(shop.path, SETTINGS);
    expect(await hooks().look(shop.path, ADDRESS)).toBe('active');
    const [off] = shop.hooks;
    if (off !== undefined) off.alertStatus = 'disabled';
    expect(await hooks().look(shop.path, ADDRESS)).toBe('disabled');
    await hooks().install(shop.path, SETTINGS);
    expect([shop.hooks.length, shop.hooks[0] === off, await hooks().look(shop.path, ADDRESS)]).toEqual([
      1,
      false,
      'active',
    ]);
    await hooks().remove(shop.path, ADDRESS);
    await hooks().remove(shop.path, ADDRESS);
    await hooks().remove('acme/web/none', ADDRESS);
    expect(shop.hooks).toEqual([]);
  });

  it('list failed deliveries, which is then delivered once more under the same name', async () => {
    const received: string[] = [];
    let away = true;
    const here = createServer((request, response) => {
      received.push(String(request.headers['webhook-id']));
      response.writeHead(away ? 503 : 200).end();
    });
    await new Promise<void>((resolve) => here.listen(0, '127.0.0.1', resolve));
    try {
      const url = `http://127.0.0.1:${(here.address() as AddressInfo).port}/`;
      const { id } = await hooks().install(shop.path, { ...SETTINGS, url });
      host.openIssue(shop, { title: 'Lost', author: ada });
      const deliveries = gitlab.codeHost?.hookDeliveries?.(client(), { repository: shop.path, id });
      const [lost] = await until('it was tried', async () => {
        const { items, next } = (await deliveries?.list(null)) ?? { items: [], next: null };
        expect(next).toBe(null);
        return items.length > 0 ? items : undefined;
      });
      expect(lost).toMatchObject({
        succeeded: false,
        event: 'issues_events',
        deliveryId: received[0],
        installationId: null,
      });
      expect(Math.abs(Date.now() - (lost?.at.getTime() ?? 0))).toBeLessThan(600_000);
      away = false;
      await deliveries?.redeliver(lost?.id ?? '');
      expect([received.length, new Set(received).size]).toEqual([2, 1]);
      expect((await deliveries?.list(null))?.items.map(({ succeeded }) => succeeded)).toEqual([true, false]);
    } finally {
      here.closeAllConnections();
      here.close();
    }
  });

  it('adversary: need a maintainer, the scope, a project by its own name, and a secret that GitLab signs with', async () => {
    shop.members.set(bot.id, DEVELOPER);
    await expect(hooks().install(shop.path, SETTINGS)).rejects.toMatchObject({ kind: 'forbidden' });
    shop.members.set(bot.id, MAINTAINER);
    await expect(hooks('read_api').install(shop.path, SETTINGS)).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(hooks().install('acme/web/../shop', SETTINGS)).rejects.toThrow('not the name of a repository');
    await expect(hooks().install(shop.path, { ...SETTINGS, secret: 'short' })).rejects.toMatchObject({
      kind: 'invalid',
    });
    for (const [status, kind] of [
      [404, 'missing'],
      [429, 'limited'],
      [502, 'unavailable'],
      [301, 'unreadable'],
    ] as const) {
      host.broken = { calls: /\/hooks/, answer: (response) => void response.writeHead(status).end('{}') };
      await expect(hooks().install(shop.path, SETTINGS)).rejects.toMatchObject({ kind });
    }
    expect(shop.hooks).toEqual([]);
  });
});
