import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type DeviceAuthorization,
  type DeviceRequest,
  type DeviceToken,
  USER_CODE_ALPHABET,
} from '@slipway/contracts/identity';
import { type Answer, ConversationApp, type User } from '../../testing/conversation-app.js';
import { withKey } from '../../testing/with-key.js';

describe('the device flow', () => {
  let app: ConversationApp;
  let user: User;
  beforeAll(async () => {
    app = await ConversationApp.start();
    user = await app.user('Ada');
  });
  afterAll(() => app?.close());

  const form = async <T>(
    path: string,
    fields: Record<string, string>,
  ): Promise<{ status: number; body: T; cache: string | null }> => {
    const response = await fetch(`${app.url}${path}`, {
      method: 'POST',
      body: new URLSearchParams(fields),
      signal: AbortSignal.timeout(30_000),
    });
    return {
      status: response.status,
      body: (await response.json()) as T,
      cache: response.headers.get('cache-control'),
    };
  };
  const authorize = async (fields: Record<string, string> = {}): Promise<DeviceAuthorization> => {
    const { status, body } = await form<DeviceAuthorization>('/oauth/device/authorize', fields);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body;
  };
  const poll = (code: string, more: Record<string, string> = {}) =>
    form<DeviceToken & { error?: string }>('/oauth/device/token', { device_code: code, ...more });
  const decide = (who: User, code: string, what: 'approve' | 'deny', body?: unknown): Promise<Answer> =>
    app.http(who, 'POST', `/api/v1/device/${code}/${what}`, body);

  it('gives a program the key that a user approved, once, limited to the user’s permissions', async () => {
    const asked = await authorize({ client_id: 'slipway CLI', scope: 'conversation:read conversation:create' });
    expect(asked).toMatchObject({ expires_in: 600, interval: 5, verification_uri: `${app.url}/device` });
    expect(asked.user_code).toMatch(new RegExp(`^[${USER_CODE_ALPHABET}]{4}-[${USER_CODE_ALPHABET}]{4}$`));
    expect(asked.verification_uri_complete).toBe(`${app.url}/device?user_code=${asked.user_code}`);
    expect((await poll(asked.device_code)).body).toMatchObject({ error: 'authorization_pending' });

    const typed = asked.user_code.toLowerCase().replace('-', ' ');
    const seen = await app.http<DeviceRequest>(user, 'GET', `/api/v1/device/${encodeURIComponent(typed)}`);
    expect(seen.body).toMatchObject({
      userCode: asked.user_code,
      client: 'slipway CLI',
      scopes: ['conversation:create', 'conversation:read'],
      address: '127.0.0.1',
    });
    expect((await decide(user, asked.user_code, 'approve', { org: user.orgId, expiresInDays: 7 })).status).toBe(204);
    expect((await decide(user, asked.user_code, 'approve', { org: user.orgId })).status).toBe(404);

    const given = await poll(asked.device_code, { grant_type: 'urn:ietf:params:oauth:grant-type:device_code' });
    expect([given.status, given.cache]).toEqual([200, 'no-store']);
    expect(given.body).toMatchObject({
      token_type: 'Bearer',
      scope: 'conversation:create conversation:read',
      org_id: user.orgId,
      expires_in: 7 * 86_400,
    });
    const list = await withKey(app.url, given.body.access_token, 'GET', `/api/v1/orgs/${user.orgId}/conversations`);
    expect(list.status).toBe(200);
    expect(await poll(asked.device_code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });

    const { rows } = await app.owner.query<{ action: string; actor_id: string }>(
      "SELECT action, actor_id FROM app.audit_entry WHERE org_id = $1 AND action IN ('device.approve', 'api-key.create') ORDER BY created_at",
      [user.orgId],
    );
    expect(rows).toEqual([
      { action: 'device.approve', actor_id: user.userId },
      { action: 'api-key.create', actor_id: user.userId },
    ]);
  });

  it('keeps neither of its codes, nor any token', async () => {
    const asked = await authorize();
    const { rows } = await app.owner.query<{ row: string }>(
      'SELECT to_jsonb(d)::text AS row FROM app.device_authorization d',
    );
    const text = JSON.stringify(rows);
    for (const code of [asked.device_code, asked.user_code, asked.user_code.replace('-', '')]) {
      expect(text).not.toContain(code);
      expect(text).not.toContain(Buffer.from(code).toString('hex'));
    }
  });

  it('one that asks too often gets slow_down, and has to wait longer from then on', async () => {
    const { device_code: code } = await authorize();
    const answers = [];
    for (let index = 0; index < 3; index += 1) answers.push((await poll(code)).body.error);
    expect(answers).toEqual(['authorization_pending', 'slow_down', 'slow_down']);
    const { rows } = await app.owner.query<{ interval: number }>(
      'SELECT max(interval_seconds) AS interval FROM app.device_authorization',
    );
    expect(rows).toEqual([{ interval: 15 }]);
  });

  it('ends when the user refuses, at its timeout, and when the approver is no member any more', async () => {
    const refused = await authorize();
    expect((await decide(user, refused.user_code, 'deny')).status).toBe(204);
    expect((await poll(refused.device_code)).body.error).toBe('access_denied');

    const late = await authorize();
    await app.owner.query(
      "UPDATE app.device_authorization SET expires_at = now() - interval '1 second' WHERE state = 'waiting'",
    );
    expect((await decide(user, late.user_code, 'approve', { org: user.orgId })).status).toBe(404);
    expect((await poll(late.device_code)).body.error).toBe('expired_token');

    const leaver = await app.user('Leaver');
    const left = await authorize({ scope: 'org:read' });
    expect((await decide(leaver, left.user_code, 'approve', { org: leaver.orgId })).status).toBe(204);
    await app.owner.query('DELETE FROM app.membership WHERE user_id = $1', [leaver.userId]);
    expect((await poll(left.device_code)).body.error).toBe('access_denied');
  });

  it('refuses an approval that names no permission, where a script of the user would hand an attacker all of theirs', async () => {
    const asked = await authorize();
    const refused = await decide(user, asked.user_code, 'approve', { org: user.orgId });
    expect([refused.status, refused.body]).toEqual([
      400,
      expect.objectContaining({ code: 'request.invalid', fields: [expect.objectContaining({ path: 'scopes' })] }),
    ]);
    expect((await decide(user, asked.user_code, 'approve', { org: user.orgId, scopes: ['org:read'] })).status).toBe(
      204,
    );
    expect((await poll(asked.device_code)).body.scope).toBe('org:read');
  });

  it('gives no more than the user has: not to who asks for more, not after their role was lowered', async () => {
    const member = await app.user('Grace');
    await app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')", [
      user.orgId,
      member.userId,
    ]);
    const asked = await authorize({ scope: 'org:read conversation:create org:delete' });
    expect(
      (await decide(member, asked.user_code, 'approve', { org: user.orgId, scopes: ['org:delete'] })).body,
    ).toMatchObject({
      code: 'api-key.scope-too-wide',
    });
    expect((await decide(member, asked.user_code, 'approve', { org: 'org_missing' })).status).toBe(404);
    expect((await decide(member, asked.user_code, 'approve', { org: user.orgId })).status).toBe(204);
    await app.owner.query("UPDATE app.membership SET role = 'viewer' WHERE org_id = $1 AND user_id = $2", [
      user.orgId,
      member.userId,
    ]);
    expect((await poll(asked.device_code)).body.scope).toBe('org:read');
  });

  it('says no in OAuth’s words to what is no request of it', async () => {
    expect(await poll('made-up')).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await form('/oauth/device/token', {})).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect(await poll('x', { grant_type: 'password' })).toMatchObject({
      status: 400,
      body: { error: 'unsupported_grant_type' },
    });
    expect(await form('/oauth/device/authorize', { scope: 'everything' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_scope' },
    });
  });

  it('prevents guessing of codes: not without signing in, and signed in some times a minute, a right one no more than a wrong one', async () => {
    const { user_code: code } = await authorize();
    expect((await app.http(null, 'GET', `/api/v1/device/${code}`)).status).toBe(401);
    const guesser = await app.user('Mallory');
    const guess = async (each: string): Promise<number> =>
      (await app.http(guesser, 'GET', `/api/v1/device/${each}`)).status;
    const answers: number[] = [];
    for (let index = 0; index < 25; index += 1) answers.push(await guess('BBBB-BBBB'));
    expect([answers[0], answers.at(-1)]).toEqual([404, 429]);
    expect(await guess(code)).toBe(429);
  });
});
