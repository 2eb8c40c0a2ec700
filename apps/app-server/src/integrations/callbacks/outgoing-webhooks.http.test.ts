import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type {
  OutgoingWebhook,
  OutgoingWebhookList,
  OutgoingWebhookWithSecret,
  WebhookMessage,
  WebhookMessagePage,
} from '@slipway/contracts/integrations';
import { FEATURES } from '../../app.module.js';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

describe('a webhook of an organization', () => {
  let app: ConversationApp;
  let olga: User;
  beforeAll(async () => {
    app = await ConversationApp.start({ features: FEATURES, env: { INTEGRATION_PRIVATE_HOSTS: '127.0.0.1:9099' } });
    olga = await app.user('Olga');
  });
  afterAll(() => app?.close());

  const path = (rest = ''): string => `/api/v1/orgs/${olga.orgId}/webhooks${rest}`;
  const create = (body: object = {}) =>
    app.http<OutgoingWebhookWithSecret & { code?: string }>(olga, 'POST', path(), {
      name: 'Status',
      url: 'https://example.com/hook',
      events: ['conversation.finished'],
      ...body,
    });

  it('shows its secret once, and is in the audit', async () => {
    const { status, body } = await create();
    expect([status, body.signingSecret]).toEqual([201, expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/)]);
    const { id } = body.webhook;
    const rotated = await app.http<OutgoingWebhookWithSecret>(olga, 'POST', path(`/${id}/rotate-secret`));
    expect(rotated.body.signingSecret).not.toBe(body.signingSecret);
    expect(rotated.body.webhook.oldSecretUntil).not.toBe(null);
    expect(
      (await app.owner.query('SELECT 1 FROM app.outgoing_webhook_secret WHERE webhook_id = $1', [id])).rowCount,
    ).toBe(2);
    const changed = await app.http<OutgoingWebhook>(olga, 'PATCH', path(`/${id}`), { name: 'Renamed', disabled: true });
    expect(changed.body).toMatchObject({ name: 'Renamed', state: 'disabled', events: ['conversation.finished'] });
    const { rows: sealed } = await app.owner.query<{ sealed: Buffer }>(
      'SELECT sealed FROM app.outgoing_webhook_secret',
    );
    const audit = await app.owner.query<{ action: string }>(
      'SELECT * FROM app.audit_entry WHERE target = $1 ORDER BY created_at',
      [id],
    );
    const all = [
      changed.body,
      (await app.http(olga, 'GET', path())).body,
      (await app.http(olga, 'GET', path(`/${id}`))).body,
      audit.rows,
    ];
    expect(JSON.stringify(all) + sealed.map((row) => row.sealed.toString('latin1')).join('')).not.toMatch(/whsec_/);
    expect((await app.http(olga, 'DELETE', path(`/${id}`))).status).toBe(204);
    expect((await app.http(olga, 'GET', path(`/${id}`))).status).toBe(404);
    const { rows } = await app.owner.query<{ action: string }>(
      'SELECT action FROM app.audit_entry WHERE target = $1 ORDER BY created_at',
      [id],
    );
    expect(rows.map(({ action }) => action)).toEqual([
      'webhook.create',
      'webhook.rotate-secret',
      'webhook.update',
      'webhook.delete',
    ]);
  });

  it('adversary: leads to no address inside, when it is made and when it is changed', async () => {
    const inside = [
      'http://example.com/hook',
      'https://127.0.0.1/x',
      'https://169.254.169.254/latest',
      'https://localhost/x',
      'https://[::1]/x',
      'https://u:p@example.com/',
    ];
    for (const url of inside) expect([url, (await create({ url })).body.code]).toEqual([url, 'settings.url-refused']);
    const { body } = await create({ url: 'http://127.0.0.1:9099/hook' });
    const id = body.webhook.id;
    for (const url of inside) {
      const { status, body: refused } = await app.http<{ code?: string }>(olga, 'PATCH', path(`/${id}`), { url });
      expect([url, status, refused.code]).toEqual([url, 422, 'settings.url-refused']);
    }
    expect((await create({ url: 'ftp://example.com/' })).status).toBe(400);
    expect((await create({ events: ['conversation.said'] })).status).toBe(400);
    expect((await create({ events: [] })).status).toBe(400);
  });

  it('is tried by hand, and sends a message again; a disabled one does neither', async () => {
    const { body } = await create({ name: 'Log' });
    const { id } = body.webhook;
    const tried = await app.http<WebhookMessage>(olga, 'POST', path(`/${id}/test`));
    expect([tried.status, tried.body]).toEqual([
      202,
      expect.objectContaining({ event: 'webhook.test', state: 'waiting', attempts: 0, lastStatus: null }),
    ]);
    expect(JSON.parse(tried.body.body)).toEqual({
      type: 'webhook.test',
      timestamp: expect.any(String),
      data: { organizationId: olga.orgId, webhookId: id },
    });
    await app.http(olga, 'POST', path(`/${id}/test`));
    await app.owner.query(
      `UPDATE app.webhook_message SET state = 'delivered', last_status = 200, created_at = '2026-11-23T00:00:00Z' WHERE id = $1`,
      [tried.body.id],
    );
    const first = await app.http<WebhookMessagePage>(olga, 'GET', path(`/${id}/log?limit=1`));
    const second = await app.http<WebhookMessagePage>(
      olga,
      'GET',
      path(`/${id}/log?limit=1&cursor=${first.body.page.nextCursor}`),
    );
    expect([first.body.data.length, second.body.data[0]?.id, second.body.page.nextCursor]).toEqual([
      1,
      tried.body.id,
      null,
    ]);
    expect(
      (await app.http<WebhookMessagePage>(olga, 'GET', path(`/${id}/log?state=delivered`))).body.data,
    ).toHaveLength(1);
    const again = await app.http<WebhookMessage>(olga, 'POST', path(`/${id}/log/${tried.body.id}/resend`));
    expect([again.status, again.body.state, again.body.body]).toEqual([202, 'waiting', tried.body.body]);
    expect((await app.http(olga, 'POST', path(`/${id}/log/msg_0/resend`))).status).toBe(404);
    await app.http(olga, 'PATCH', path(`/${id}`), { disabled: true });
    for (const rest of [`/${id}/test`, `/${id}/log/${tried.body.id}/resend`]) {
      const { status, body: refused } = await app.http<{ code: string }>(olga, 'POST', path(rest));
      expect([rest, status, refused.code]).toEqual([rest, 409, 'webhook.not-active']);
    }
    expect((await app.http(olga, 'GET', path(`/${id}/log?cursor=x`))).status).toBe(400);
  });

  it('is one of few', async () => {
    const { body } = await app.http<OutgoingWebhookList>(olga, 'GET', path());
    for (let made = body.data.length; made < 20; made += 1)
      expect((await create({ name: `n${made}` })).status).toBe(201);
    expect((await create()).body.code).toBe('webhook.too-many');
    const paul = await app.user('Paul');
    expect((await app.http<OutgoingWebhookList>(paul, 'GET', `/api/v1/orgs/${paul.orgId}/webhooks`)).body.data).toEqual(
      [],
    );
    expect((await app.http(paul, 'GET', `/api/v1/orgs/${paul.orgId}/webhooks/${body.data[0]?.id}`)).status).toBe(404);
  });
});
