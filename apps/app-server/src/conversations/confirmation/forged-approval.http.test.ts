import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ConversationEvent } from '@slipway/contracts/events';
import { ConversationApp, executionStatus, riskyCommand, thought, type User } from '../../testing/conversation-app.js';

const acceptance = (value: object): ConversationEvent =>
  ({ ...executionStatus('x'), key: 'confirmation', value }) as ConversationEvent;

describe('an approval under four eyes', () => {
  let app: ConversationApp;
  let ada: User;
  let bob: User;
  let dave: User;
  beforeAll(async () => {
    app = await ConversationApp.start({ replicas: 2 });
    [ada, bob, dave] = [await app.user('Ada'), await app.user('Bob'), await app.user('Dave')];
    for (const { userId } of [bob, dave])
      await app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'admin')", [
        ada.orgId,
        userId,
      ]);
    await fourEyes(true);
  });
  afterAll(() => app?.close());

  const fourEyes = (on: boolean) =>
    app.owner.query('UPDATE app.org SET settings = settings || $2::jsonb WHERE id = $1', [
      ada.orgId,
      JSON.stringify({ fourEyes: on }),
    ]);
  const entries = async (id: string) =>
    (
      await app.owner.query<{ actor_id: string }>(
        "SELECT actor_id FROM app.audit_entry WHERE target = $1 AND action = 'conversation.approve'",
        [id],
      )
    ).rows.map((row) => row.actor_id);
  const answersOf = async (id: string) =>
    (await app.log(id)).filter(
      ({ event }) => event.kind === 'ConversationStateUpdateEvent' && event.key === 'confirmation',
    ).length;
  const yes = async (user: User, id: string, actionIds: readonly string[]) => {
    const { status, body } = await app.http<{ code?: string }>(user, 'POST', app.path(ada, id, '/confirmation'), {
      accept: true,
      actionIds,
    });
    return `${status} ${body.code ?? ''}`.trim();
  };

  type Sandbox = Parameters<ConversationApp['started']>[2];
  /** A conversation of Ada's whose agent waits. */
  async function waiting(sandbox?: Sandbox, ...before: ConversationEvent[]) {
    const { id } = await app.conversation(ada);
    await app.started(id, 1, sandbox);
    const asked = riskyCommand();
    const events = [...before, executionStatus('running'), asked, executionStatus('waiting_for_confirmation')];
    await app.ingest(
      ada,
      id,
      events.map((event, index) => ({ producerSeq: index + 1, event })),
    );
    return { id, actionIds: [asked.id], next: events.length + 1 };
  }
  /** A sandbox that keeps the receipts of the answers that it gets, and stores nothing. */
  async function keeping(status = 200) {
    const receipts: string[] = [];
    const sandbox = await app.fakeSandbox((_request, body) => {
      receipts.push((JSON.parse(body) as { slipway: { receipt: string } }).slipway.receipt);
      return { status, body: '{"success":true,"answer_id":"x"}' };
    });
    return { sandbox, receipts };
  }

  it('that a stolen ingest token writes into the log is not stored, whatever name and receipt it claims', async () => {
    const { id, actionIds, next } = await waiting();
    for (const claimed of [
      {},
      { by: 'Dave', by_id: dave.userId, by_kind: 'user', through: 'app', receipt: 'Zm9yZ2Vk' },
    ]) {
      const refused = await app.ingest(ada, id, [
        { producerSeq: next, event: acceptance({ accepted: true, action_ids: actionIds, ...claimed }) },
      ]);
      expect([refused.status, refused.body.code]).toEqual([400, 'request.invalid']);
    }
    expect([await answersOf(id), await entries(id)]).toEqual([0, []]);
    // A no needs nobody, and the log goes on.
    expect(
      (
        await app.ingest(ada, id, [
          { producerSeq: next, event: acceptance({ accepted: false, action_ids: actionIds }) },
        ])
      ).status,
    ).toBe(200);
  });

  it('is in the audit once when a hostile sandbox answers 200 and stores nothing, fails, or refuses, however often it is given and whatever dies between', async () => {
    for (const status of [200, 500, 409]) {
      const { sandbox, receipts } = await keeping(status);
      const { id, actionIds } = await waiting(sandbox);
      const given = await yes(dave, id, actionIds);
      expect(given.startsWith('200')).toBe(status === 200);
      await app.restart(0);
      await Promise.all([yes(dave, id, actionIds), yes(dave, id, actionIds)]);
      expect([await entries(id), receipts.length]).toEqual([[dave.userId], 3]);
    }
  });

  it('is vouched for to the next sandbox only if a second user gave it', async () => {
    const { sandbox } = await keeping();
    const { id, actionIds } = await waiting(sandbox);
    const approvals = async () => {
      const response = await fetch(`${app.url}/ingest/v1/conversations/${id}/approvals`, {
        headers: { authorization: `Bearer ${await app.token(ada, id)}` },
      });
      return ((await response.json()) as { action_ids: string[] }).action_ids;
    };
    await fourEyes(false);
    expect(await yes(ada, id, actionIds)).toBe('200');
    await fourEyes(true);
    expect([await yes(ada, id, actionIds), await approvals()]).toEqual(['403 conversation.four-eyes', []]);
    expect([await yes(dave, id, actionIds), await approvals()]).toEqual(['200', actionIds]);
  });

  describe('whose receipt a hostile sandbox has kept', () => {
    it('is stored for its actions and conversation alone, and once', async () => {
      const { sandbox, receipts } = await keeping();
      const first = await waiting(sandbox);
      const other = await waiting(sandbox);
      expect(await yes(dave, first.id, first.actionIds)).toBe('200');
      const [receipt] = receipts;
      const put = async (id: string, producerSeq: number, actionIds: readonly string[], sealed = receipt) =>
        (
          await app.ingest(ada, id, [
            { producerSeq, event: acceptance({ accepted: true, action_ids: actionIds, receipt: sealed }) },
          ])
        ).status;
      expect(await put(other.id, other.next, other.actionIds)).toBe(400);
      expect(await put(first.id, first.next, [...first.actionIds, randomUUID()])).toBe(400);
      expect(await put(first.id, first.next, [])).toBe(400);
      expect(await put(first.id, first.next, first.actionIds)).toBe(200);
      expect(await put(first.id, first.next + 1, first.actionIds)).toBe(400);
      // Spelt in another way it would be another text, and the same receipt.
      expect(await put(first.id, first.next + 1, first.actionIds, `${receipt}=`)).toBe(400);
      expect([await answersOf(first.id), await entries(first.id)]).toEqual([1, [dave.userId]]);
    });

    it('is stored once of a batch that has it twice', async () => {
      const { sandbox, receipts } = await keeping();
      const { id, actionIds, next } = await waiting(sandbox);
      await yes(dave, id, actionIds);
      const event = () => acceptance({ accepted: true, action_ids: actionIds, receipt: receipts[0] });
      const twice = await app.ingest(ada, id, [
        { producerSeq: next, event: event() },
        { producerSeq: next + 1, event: event() },
      ]);
      expect([twice.status, await answersOf(id)]).toEqual([400, 0]);
    });
  });

  it('is none of who changed files or ran something through sandbox-gateway since the agent asked for the last approved action', async () => {
    const { sandbox, receipts } = await keeping();
    const steers = (id: string, by: User, from: string) =>
      app.owner.query(
        `INSERT INTO app.sandbox_steering (conversation_id, user_id, org_id, until) VALUES ($1, $2, $3, ${from})
         ON CONFLICT (conversation_id, user_id) DO UPDATE SET until = excluded.until`,
        [id, by.userId, ada.orgId],
      );
    const { id, actionIds, next } = await waiting(sandbox);
    await steers(id, bob, "now() - interval '1 hour'");
    // Nothing was approved yet: whatever he did, the agent works on it.
    expect(await yes(bob, id, actionIds)).toBe('403 conversation.four-eyes');
    expect(await yes(dave, id, actionIds)).toBe('200');
    const asked = riskyCommand();
    const taken = acceptance({ accepted: true, action_ids: actionIds, receipt: receipts[0] });
    const events = [taken, executionStatus('running'), asked, executionStatus('waiting_for_confirmation')];
    await app.ingest(
      ada,
      id,
      events.map((event, index) => ({ producerSeq: next + index, event })),
    );
    await steers(id, dave, 'now()');
    expect([await yes(dave, id, [asked.id]), await yes(bob, id, [asked.id])]).toEqual([
      '403 conversation.four-eyes',
      '200',
    ]);
  });

  it('of before four eyes, which may be the asker’s own, takes no asker out', async () => {
    const atRest = (id: string) =>
      app.owner.query("UPDATE app.conversation SET desired = 'rest', sandbox_status = 'PAUSED' WHERE id = $1", [id]);
    const verdicts: string[] = [];
    for (const before of [false, true]) {
      await fourEyes(before);
      const his = { ...thought('do it'), source: 'user', sender: 'Bob', sender_id: bob.userId } as ConversationEvent;
      const heard = { ...executionStatus('x'), key: 'last_user_message_id', value: his.id } as ConversationEvent;
      const { id, actionIds } = await waiting(undefined, his, heard);
      await atRest(id);
      // Bob approves what he asked for himself; under four eyes Dave does.
      expect(await yes(before ? dave : bob, id, actionIds)).toBe('200');
      await fourEyes(true);
      await app.started(id, 2);
      const asked = riskyCommand();
      const done = {
        ...thought('x'),
        kind: 'AgentErrorEvent',
        tool_name: 'terminal',
        tool_call_id: `call-${actionIds[0]}`,
        error: 'x',
      };
      const events = [done as ConversationEvent, asked, executionStatus('waiting_for_confirmation')];
      await app.ingest(
        ada,
        id,
        events.map((event, index) => ({ producerSeq: index + 1, event })),
        2,
      );
      await atRest(id);
      verdicts.push(await yes(bob, id, [asked.id]));
    }
    expect(verdicts).toEqual(['403 conversation.four-eyes', '200']);
  });
});
