import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

const HOST = '127.0.0.1:9';
/** As the worker names changes that it has refused. */
const SEEN = { allowProtectedPaths: true, protectedChanges: 'a'.repeat(64) };

describe('a publish that allows changes of protected paths', () => {
  let app: ConversationApp;
  let ada: User;
  let bob: User;
  beforeAll(async () => {
    app = await ConversationApp.start({ env: { INTEGRATION_PRIVATE_HOSTS: HOST } });
    [ada, bob] = [await app.user('Ada'), await app.user('Bob')];
    await app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'admin')`, [
      ada.orgId,
      bob.userId,
    ]);
    const made = await app.http(ada, 'POST', `/api/v1/orgs/${ada.orgId}/integrations/connections`, {
      provider: 'gitea',
      name: 'Forge',
      host: HOST,
      token: 'token-of-the-connection',
      settings: { baseUrl: `http://${HOST}` },
    });
    expect(made).toMatchObject({ status: 201 });
  });
  afterAll(() => app?.close());

  const fourEyes = (on: boolean) =>
    app.owner.query('UPDATE app.org SET settings = settings || $2::jsonb WHERE id = $1', [
      ada.orgId,
      JSON.stringify({ fourEyes: on }),
    ]);
  const publish = async (
    user: User | null,
    id: string,
    body: object,
    headers?: Record<string, string>,
  ): Promise<string> => {
    const answer = await app.http<{ code?: string }>(user, 'POST', app.path(ada, id, '/pull-requests'), body, headers);
    return [answer.status, answer.body.code].filter(Boolean).join(' ');
  };

  /** Ada's, with a sandbox that has the clone. */
  async function conversation(): Promise<string> {
    const { id } = await app.conversation(ada);
    const sandbox = await app.fakeSandbox(() => ({ status: 200 }));
    await app.started(id, 1, sandbox);
    await app.owner.query('UPDATE app.conversation SET repository = $2, base_commit = $3 WHERE id = $1', [
      id,
      `http://${HOST}/acme/shop`,
      'a'.repeat(40),
    ]);
    return id;
  }

  it('is anybody’s who may publish, without four eyes', async () => {
    await fourEyes(false);
    expect(await publish(ada, await conversation(), { allowProtectedPaths: true })).toBe('202');
  });

  it('adversary: under four eyes is not taken of who asked the agent for them, nor of a service account, but of a second user', async () => {
    await fourEyes(true);
    const id = await conversation();
    const account = await app.http<{ id: string }>(bob, 'POST', `/api/v1/orgs/${ada.orgId}/service-accounts`, {
      name: 'Robot',
      role: 'member',
    });
    const key = await app.http<{ token: string }>(bob, 'POST', `/api/v1/orgs/${ada.orgId}/api-keys`, {
      name: 'k',
      scopes: ['conversation:read', 'pull-request:write'],
      serviceAccountId: account.body.id,
    });
    expect(await publish(ada, id, SEEN)).toBe('403 conversation.four-eyes');
    expect(await publish(null, id, SEEN, { authorization: `Bearer ${key.body.token}` })).toBe(
      '403 conversation.four-eyes',
    );
    // What touches no protected path is the git host's to have reviewed.
    expect(await publish(ada, id, {})).toBe('202');
    expect(await publish(bob, id, SEEN)).toBe('202');
  });

  it('adversary: is not taken of who has written to the agent in another user’s conversation', async () => {
    await fourEyes(true);
    const id = await conversation();
    expect(
      (await app.http(bob, 'POST', app.path(ada, id, '/messages'), { text: 'and change the workflow' })).status,
    ).toBeLessThan(300);
    expect(await publish(bob, id, SEEN)).toBe('403 conversation.four-eyes');
  });

  it('adversary: under four eyes is for changes that the second user names, and for no others', async () => {
    await fourEyes(true);
    const id = await conversation();
    expect(await publish(bob, id, { allowProtectedPaths: true })).toBe('403 conversation.four-eyes');
    expect(await publish(bob, id, { ...SEEN, protectedChanges: 'whatever' })).toMatch(/^400 /);
    expect(await publish(bob, id, SEEN)).toBe('202');
    const { rows } = await app.owner.query<{ wanted: object }>(
      'SELECT wanted FROM app.pull_request WHERE conversation_id = $1',
      [id],
    );
    expect(rows[0]?.wanted).toMatchObject(SEEN);
  });
});
