import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { type ConversationEvent } from '@slipway/contracts/events';
import { executionStatus } from '../../testing/conversation-app.js';
import { ada, answer, app, setUpConfirmation, waiting } from './confirmation-setup.js';

describe('an answer given in the sandbox', () => {
  setUpConfirmation();

  const acceptance = (value: object): ConversationEvent =>
    ({ ...executionStatus('x'), key: 'confirmation', value }) as ConversationEvent;
  const entries = async (id: string) =>
    (
      await app.owner.query<{
        action: string;
        actor_id: string;
        actor_label: string;
        request_id: string | null;
        detail: object;
      }>(
        "SELECT action, actor_id, actor_label, request_id, detail FROM app.audit_entry WHERE target = $1 AND action IN ('conversation.approve', 'conversation.reject')",
        [id],
      )
    ).rows;

  const grantTo = (userId: string, id: string) =>
    app.owner.query(
      `INSERT INTO app.sandbox_grant (id, org_id, user_id, conversation_id, port, ticket_expires_at, expires_at) VALUES ($1, $2, $3, $4, 8000, now(), now() + interval '1 hour')`,
      [`sbx_${randomUUID()}`, ada.orgId, userId, id],
    );

  it('is in the audit without a name when a hostile sandbox claims one, of a user without access to it or beside no id', async () => {
    const { id, actionIds } = await waiting();
    await grantTo('usr_bob', id);
    const forged = [
      { by: 'Ada', by_id: ada.userId, by_kind: 'user', through: 'sandbox-gateway' },
      { by: 'Ada' },
      {
        by: 'x'.repeat(100_000),
        by_id: 'y'.repeat(100_000),
        through: 'sandbox-gateway',
        action_ids: Array(5_000).fill('z'.repeat(500)),
      },
    ];
    await app.ingest(
      ada,
      id,
      forged.map((name, index) => ({
        producerSeq: 4 + index,
        event: acceptance({ accepted: true, action_ids: actionIds, ...name }),
      })),
    );
    const found = await entries(id);
    expect(found.map(({ actor_id }) => actor_id)).toEqual(Array(3).fill('session-key'));
    expect(found.map(({ detail }) => (detail as { claimed: string }).claimed).sort()).toEqual(
      [ada.userId, 'Ada', 'y'.repeat(200)].sort(),
    );
    expect(JSON.stringify(found).length).toBeLessThan(25_000);
  });

  it('is in the audit with its name as its event is stored, once, however often it is delivered', async () => {
    const { id, actionIds } = await waiting();
    await grantTo('usr_bob', id);
    const event = acceptance({
      accepted: true,
      action_ids: actionIds,
      by: 'Bob',
      by_id: 'usr_bob',
      by_kind: 'user',
      through: 'sandbox-gateway',
    });
    for (const _again of [1, 2, 3]) await app.ingest(ada, id, [{ producerSeq: 4, event }]);
    expect(await entries(id)).toMatchObject([
      {
        action: 'conversation.approve',
        actor_id: 'usr_bob',
        actor_label: 'Bob',
        detail: { actions: actionIds, through: 'sandbox-gateway' },
      },
    ]);
  });

  it('is in the audit as the app sealed it, whatever a sandbox writes beside it, and without a name when it has none', async () => {
    let receipt = '';
    const sandbox = await app.fakeSandbox((_request, body) => {
      receipt = (JSON.parse(body) as { slipway: { receipt: string } }).slipway.receipt;
      return { status: 200, body: '{"success":true,"answer_id":"x"}' };
    });
    const { id, actionIds } = await waiting(sandbox);
    expect((await answer(ada, id, { accept: true, actionIds })).status).toBe(200);
    expect([(await entries(id)).length, receipt.includes(ada.userId)]).toEqual([1, false]);
    const forged = { by: 'Eve', by_id: 'usr_eve', by_kind: 'user', through: 'app' };
    await app.ingest(ada, id, [
      { producerSeq: 4, event: acceptance({ accepted: true, action_ids: actionIds, ...forged, receipt }) },
    ]);
    expect(await entries(id)).toMatchObject([
      { actor_id: ada.userId, actor_label: 'Ada', request_id: expect.stringMatching(/^req_/) },
    ]);
    const other = await waiting();
    await app.ingest(ada, other.id, [
      { producerSeq: 4, event: acceptance({ accepted: true, action_ids: other.actionIds, ...forged, receipt }) },
    ]);
    expect(await entries(other.id)).toMatchObject([{ actor_id: 'session-key' }]);
  });
});
