import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Conversation } from '@slipway/contracts/conversations';
import type { ThreadAnswerList } from '@slipway/contracts/integrations';
import { FEATURES } from '../../app.module.js';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

describe('the answers of a conversation', () => {
  let app: ConversationApp;
  let olga: User;
  beforeAll(async () => {
    app = await ConversationApp.start({ features: FEATURES });
    olga = await app.user('Olga');
  });
  afterAll(() => app?.close());

  it('are its progress comments, each with its thread and why it waits', async () => {
    const { body: made } = await app.http<Conversation>(olga, 'POST', `/api/v1/orgs/${olga.orgId}/conversations`, {
      prompt: 'x',
    });
    await app.owner.query(
      `INSERT INTO app.integration_connection (id, org_id, provider, kind, name, host, signature, own, settings, created_by, created_by_label)
       VALUES ('c1', $1, 'gitea', 'token', 'n', 'git.test', 'sha256', '{}', '{}', 'u', 'u')`,
      [olga.orgId],
    );
    await app.owner.query(
      `INSERT INTO app.integration_thread (connection_id, thread_key, org_id, conversation_id, place, url, title, confidential)
       VALUES ('c1', '7#1', $1, $2, '{}', 'https://git.test/acme/shop/issues/1', 'Total is wrong', false)`,
      [olga.orgId, made.id],
    );
    for (const [id, kind] of [
      ['a1', 'progress'],
      ['a2', 'seen'],
    ])
      await app.owner.query(
        `INSERT INTO app.thread_answer (id, org_id, connection_id, thread_key, kind, conversation_id, place, marker, problem, retry_at)
         VALUES ($1, $2, 'c1', '7#1', $3, $4, '{}', 'm', 'The provider limits our calls.', '2026-11-24T04:00:00Z')`,
        [id, olga.orgId, kind, made.id],
      );
    await app.owner.query(
      `INSERT INTO app.thread_answer (id, org_id, connection_id, thread_key, kind, subject, effect_of, place, marker, state) VALUES ('a3', $1, 'c1', '7#1', 'move', 'started', $2, '{}', 'm', 'shown')`,
      [olga.orgId, made.id],
    );
    const { status, body } = await app.http<ThreadAnswerList>(
      olga,
      'GET',
      `/api/v1/orgs/${olga.orgId}/conversations/${made.id}/answers`,
    );
    expect([status, body.data]).toEqual([
      200,
      [
        {
          kind: 'comment',
          connectionId: 'c1',
          provider: 'gitea',
          threadTitle: 'Total is wrong',
          threadUrl: 'https://git.test/acme/shop/issues/1',
          state: 'waiting',
          url: null,
          problem: 'The provider limits our calls.',
          nextTryAt: '2026-11-24T04:00:00.000Z',
          updatedAt: expect.any(String),
        },
        expect.objectContaining({ kind: 'move', state: 'shown', problem: null }),
      ],
    ]);
    const paul = await app.user('Paul');
    expect((await app.http(paul, 'GET', `/api/v1/orgs/${paul.orgId}/conversations/${made.id}/answers`)).status).toBe(
      404,
    );
  });
});
