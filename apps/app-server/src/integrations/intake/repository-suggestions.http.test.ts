import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { ConnectionWithSecret, IntegrationDeliveryPage } from '@slipway/contracts/integrations';
import { FEATURES } from '../../app.module.js';
import { ConversationApp, type User } from '../../testing/conversation-app.js';
import { ScriptedHost } from '../repositories/scripted-host.js';

const SECRET = '8f742231b10e8888abcd99yyyzzz85a5';

jest.setTimeout(180_000);

describe('repositories that are suggested in Slack', () => {
  let app: ConversationApp;
  let host: ScriptedHost;
  let olga: User;
  let slack = '';
  let git = '';
  beforeAll(async () => {
    host = await ScriptedHost.start();
    app = await ConversationApp.start({ features: FEATURES, env: { INTEGRATION_PRIVATE_HOSTS: host.host } });
    olga = await app.user('Olga');
    const connect = async (body: object): Promise<string> =>
      (await app.http<ConnectionWithSecret>(olga, 'POST', `/api/v1/orgs/${olga.orgId}/integrations/connections`, body))
        .body.connection.id;
    git = await connect({
      provider: 'gitea',
      kind: 'token',
      name: 'g',
      host: host.host,
      token: 'the-access-token',
      settings: { baseUrl: `http://${host.host}` },
    });
    slack = await connect({ provider: 'slack', name: 's', webhookSecret: SECRET });
    for (const [provider, at, external] of [
      ['gitea', host.host, '7'],
      ['slack', 'slack.com', 'U1'],
    ])
      await app.owner.query(
        `INSERT INTO app.linked_account (id, org_id, provider, host, external_user_id, user_id, login) VALUES (gen_random_uuid()::text, $1, $2, $3, $4, $5, 'octo')`,
        [olga.orgId, provider, at, external, olga.userId],
      );
    host.repositories = ['acme/shop', 'acme/secret', `acme/${'long'.repeat(25)}`];
    for (const name of ['acme/shop', `acme/${'long'.repeat(25)}`]) host.rights.set(name, { id: 7, permission: 'read' });
    host.rights.set('acme/secret', { id: 7, permission: 'none' });
  });
  afterAll(async () => {
    await app?.close();
    host?.close();
  });

  const types = async (
    typed: string,
    { user = { id: 'U1', team_id: 'T1' }, action = 'slipway.repository', secret = SECRET } = {},
  ): Promise<{ status: number; body: unknown }> => {
    const payload = { type: 'block_suggestion', user, team: { id: 'T1' }, action_id: action, value: typed };
    const raw = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
    const at = String(Math.floor(Date.now() / 1_000));
    const answer = await fetch(`${app.url}/api/integration/slack/events/${slack}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-slack-request-timestamp': at,
        'x-slack-signature': `v0=${createHmac('sha256', secret).update(`v0:${at}:${raw}`).digest('hex')}`,
      },
      body: raw,
    });
    return { status: answer.status, body: await answer.json() };
  };
  const shop = { text: { type: 'plain_text', text: 'acme/shop' }, value: '' };
  const none = { text: { type: 'plain_text', text: 'No repository' }, value: 'none' };

  it('are those that the linked user may read, as short as Slack takes them, and the log keeps none of it', async () => {
    const option = { ...shop, value: `${git.slice(0, 8)} acme/shop` };
    expect(await types('')).toEqual({ status: 200, body: { options: [none, option] } });
    expect(await types('sho')).toEqual({ status: 200, body: { options: [option] } });
    const { body } = await app.http<IntegrationDeliveryPage>(
      olga,
      'GET',
      `/api/v1/orgs/${olga.orgId}/integrations/connections/${slack}/deliveries`,
    );
    expect(body.data).toEqual([]);
  });

  it('adversary: are none for who is not linked, a guest, another choice, or a bad signature', async () => {
    expect((await types('', { user: { id: 'U9', team_id: 'T1' } })).body).toEqual({ options: [] });
    expect((await types('', { user: { id: 'U1', team_id: 'T2' } })).body).toEqual({ options: [] });
    expect((await types('', { action: 'other' })).body).toEqual({ options: [] });
    expect((await types('', { secret: `${SECRET}x` })).status).toBe(401);
  });

  it('come within the 3 s of Slack from a host that never answers', async () => {
    host.broken = { below: '/api/v1/repos', answer: () => {} };
    try {
      expect(await types('something new')).toEqual({ status: 200, body: { options: [] } });
    } finally {
      host.broken = null;
    }
  });
});
