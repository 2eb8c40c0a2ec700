import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ConversationEvent } from '@slipway/contracts/events';
import { ROLE_PERMISSIONS } from '@slipway/contracts/organizations';
import { ConversationApp, executionStatus, riskyCommand, type User } from '../../testing/conversation-app.js';

describe('a word on what the agent asks for', () => {
  let app: ConversationApp;
  let ada: User;
  beforeAll(async () => {
    app = await ConversationApp.start();
    ada = await app.user('Ada');
  });
  afterAll(() => app?.close());

  const answer = (user: User, id: string, body: object) =>
    app.http<{ code?: string }>(user, 'POST', app.path(user, id, '/confirmation'), body);
  const audits = async (id: string) =>
    (await app.owner.query<{ action: string }>('SELECT action FROM app.audit_entry WHERE target = $1', [id])).rows.map(
      (row) => row.action,
    );
  const settings = (values: object) =>
    app.owner.query('UPDATE app.org SET settings = settings || $2::jsonb WHERE id = $1', [
      ada.orgId,
      JSON.stringify(values),
    ]);

  /** A conversation whose agent waits; `sandbox` is up and has it, or there is none. */
  async function waiting(sandbox?: Parameters<ConversationApp['started']>[2]) {
    const { id } = await app.conversation(ada);
    await app.started(id, 1, sandbox);
    const asked = riskyCommand();
    await app.ingest(ada, id, [
      { producerSeq: 1, event: executionStatus('running') },
      { producerSeq: 2, event: asked },
      { producerSeq: 3, event: executionStatus('waiting_for_confirmation') },
    ]);
    return { id, actionIds: [asked.id] };
  }

  it('goes straight to the sandbox that has the conversation, and is in the audit', async () => {
    const sandbox = await app.fakeSandbox(() => ({ status: 200 }));
    const { id, actionIds } = await waiting(sandbox);
    expect(
      (
        await answer(ada, id, {
          accept: true,
          actionIds,
          always: { tool_name: 'terminal', match: 'exact', value: 'npm publish' },
        })
      ).status,
    ).toBe(200);
    expect(sandbox.asked).toEqual([`POST /api/conversations/${id}/events/respond_to_confirmation`]);
    expect(await audits(id)).toContain('conversation.approve');
  });

  it('says that somebody else was first when the sandbox says so, and keeps no no that a sandbox did not hear', async () => {
    const late = await app.fakeSandbox(() => ({ status: 409, body: '{"code":"conversation.nothing-to-confirm"}' }));
    const first = await waiting(late);
    const broken = await app.fakeSandbox(() => ({ status: 500 }));
    const second = await waiting(broken);
    const [refused, unreached] = [
      await answer(ada, first.id, { accept: true, actionIds: first.actionIds }),
      await answer(ada, second.id, { accept: false, actionIds: second.actionIds }),
    ];
    expect([refused.status, refused.body.code]).toEqual([409, 'conversation.nothing-to-confirm']);
    expect(unreached.body.code).toBe('sandbox.unreachable');
    // The yes was given, whatever a sandbox makes of it.
    expect(
      [await audits(first.id), await audits(second.id)].flat().filter((one) => /approve|reject/.test(one)),
    ).toEqual(['conversation.approve']);
  });

  it('is written into the log when no sandbox is there, and the first of many counts', async () => {
    const { id, actionIds } = await waiting();
    await app.owner.query("UPDATE app.conversation SET desired = 'rest', sandbox_status = 'PAUSED' WHERE id = $1", [
      id,
    ]);
    const answers = await Promise.all(
      [true, false, true, false].map((accept) =>
        answer(ada, id, { accept, actionIds, ...(accept ? {} : { reason: 'no' }) }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    const { rows } = await app.owner.query<{ desired: string; jobs: number }>(
      "SELECT desired, (SELECT count(*)::int FROM app.outbox WHERE key = $1::text AND queue = 'conversation-start') AS jobs FROM app.conversation WHERE id = $1::uuid",
      [id],
    );
    expect(rows[0]).toEqual({ desired: 'run', jobs: 1 });
    const said = (await app.log(id)).filter(
      ({ event }) => event.kind === 'ConversationStateUpdateEvent' && event.key === 'confirmation',
    );
    expect(said).toHaveLength(1);
  });

  it('approves some actions and rejects others in one answer, without a sandbox too', async () => {
    const { id } = await app.conversation(ada);
    await app.started(id, 1);
    const [kept, dropped] = [riskyCommand(), riskyCommand()];
    await app.ingest(ada, id, [
      { producerSeq: 1, event: executionStatus('running') },
      { producerSeq: 2, event: kept },
      { producerSeq: 3, event: dropped },
      { producerSeq: 4, event: executionStatus('waiting_for_confirmation') },
    ]);
    await app.owner.query("UPDATE app.conversation SET desired = 'rest', sandbox_status = 'PAUSED' WHERE id = $1", [
      id,
    ]);
    const actionIds = [kept.id, dropped.id];
    const stranger = await answer(ada, id, { accept: true, actionIds, rejections: [{ id: randomUUID() }] });
    expect(stranger.status).toBe(409);
    expect(
      (await answer(ada, id, { accept: true, actionIds, rejections: [{ id: dropped.id, reason: 'not this one' }] }))
        .status,
    ).toBe(200);
    const log = (await app.log(id)).map(({ event }) => event);
    expect(log.filter((event) => event.kind === 'UserRejectObservation')).toMatchObject([
      { action_id: dropped.id, rejection_reason: 'not this one' },
    ]);
    expect(log.findLast((event) => event.kind === 'ConversationStateUpdateEvent')).toMatchObject({
      value: { accepted: true, action_ids: [kept.id] },
    });
    const { rows } = await app.owner.query<{ detail: object }>(
      "SELECT detail FROM app.audit_entry WHERE target = $1 AND action = 'conversation.approve'",
      [id],
    );
    expect(rows).toMatchObject([
      { detail: { actions: [kept.id], rejected: [{ id: dropped.id, reason: 'not this one' }] } },
    ]);
  });

  it('tells the agent the reason of a no that no sandbox heard', async () => {
    const { id, actionIds } = await waiting();
    await app.owner.query("UPDATE app.conversation SET desired = 'rest', sandbox_status = 'PAUSED' WHERE id = $1", [
      id,
    ]);
    expect((await answer(ada, id, { accept: false, actionIds, reason: 'not on a Friday' })).status).toBe(200);
    expect(
      (await app.log(id)).map(({ event }) => event).find((event) => event.kind === 'UserRejectObservation'),
    ).toMatchObject({
      action_id: actionIds[0],
      rejection_reason: 'not on a Friday',
    });
    expect((await answer(ada, id, { accept: true, actionIds })).status).toBe(409);
  });

  it('refuses what is no answer, and knows no conversation of others', async () => {
    const { id, actionIds } = await waiting();
    await app.owner.query("UPDATE app.conversation SET desired = 'rest' WHERE id = $1", [id]);
    expect((await answer(ada, id, { accept: 'yes', actionIds })).status).toBe(400);
    expect((await answer(ada, id, { accept: true, actionIds: [] })).status).toBe(400);
    expect((await answer(ada, id, { accept: true, actionIds: [randomUUID()] })).status).toBe(409);
    const other = await app.user('Eve');
    expect((await answer(other, id, { accept: true, actionIds })).status).toBe(404);
  });

  it('lets nobody approve for themselves where four eyes must, and everybody say no', async () => {
    await settings({ fourEyes: true });
    const { id, actionIds } = await waiting();
    await app.owner.query("UPDATE app.conversation SET desired = 'rest' WHERE id = $1", [id]);
    const own = await answer(ada, id, { accept: true, actionIds });
    expect([own.status, own.body.code]).toEqual([403, 'conversation.four-eyes']);
    expect((await answer(ada, id, { accept: false, actionIds })).status).toBe(200);
    await settings({ fourEyes: false });
  });

  describe('where four eyes must', () => {
    let bob: User;
    let carol: User;
    beforeAll(async () => {
      [bob, carol] = [await app.user('Bob'), await app.user('Carol')];
      for (const { userId } of [bob, carol])
        await app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'admin')", [
          ada.orgId,
          userId,
        ]);
      await settings({ fourEyes: true });
    });
    afterAll(() => settings({ fourEyes: false }));

    const verdict = async (caller: User, id: string, body: object) => {
      const { status, body: said } = await app.http<{ code?: string }>(
        caller,
        'POST',
        app.path(ada, id, '/confirmation'),
        body,
      );
      return `${status} ${said.code ?? ''}`.trim();
    };
    const message = (id: string, sender?: { name: string; id: string }): ConversationEvent => ({
      id: randomUUID(),
      timestamp: new Date().toISOString(),
      source: 'user',
      kind: 'MessageEvent',
      llm_message: { role: 'user', content: [{ type: 'text', text: id }] },
      ...(sender === undefined ? {} : { sender: sender.name, sender_id: sender.id }),
    });
    const update = (key: string, value: unknown): ConversationEvent =>
      ({ ...executionStatus('x'), key, value }) as ConversationEvent;
    /** An agent at rest that waits, after what else was in its log. */
    async function asking(...before: ConversationEvent[]) {
      const { id } = await app.conversation(ada);
      await app.started(id, 1);
      const asked = riskyCommand();
      const events = [...before, executionStatus('running'), asked, executionStatus('waiting_for_confirmation')];
      await app.ingest(
        ada,
        id,
        events.map((event, index) => ({ producerSeq: index + 1, event })),
      );
      await app.owner.query("UPDATE app.conversation SET desired = 'rest', sandbox_status = 'PAUSED' WHERE id = $1", [
        id,
      ]);
      return { id, yes: { accept: true, actionIds: [asked.id] }, asked };
    }

    it('counts everybody who wrote, by sandbox-gateway and by the app, and not the last alone', async () => {
      const { id, yes } = await asking(message('one', { name: 'Bob', id: bob.userId }));
      await app.http(carol, 'POST', app.path(ada, id, '/messages'), { text: 'and mine' });
      expect([await verdict(bob, id, yes), await verdict(carol, id, yes), await verdict(ada, id, yes)]).toEqual(
        Array(3).fill('403 conversation.four-eyes'),
      );
      const dave = await app.user('Dave');
      await app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')", [
        ada.orgId,
        dave.userId,
      ]);
      expect(await verdict(dave, id, yes)).toBe('200');
    });

    const member = async (name: string) => {
      const user = await app.user(name);
      await app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')", [
        ada.orgId,
        user.userId,
      ]);
      return user;
    };
    /**
     * The next sandbox has carried out `first`, and its agent asks for another action, after what else is in its log.
     */
    async function askingAgain(id: string, first: { id: string }, ...before: ConversationEvent[]) {
      await app.started(id, 2);
      const asked = riskyCommand();
      const failed = {
        ...message('x'),
        kind: 'AgentErrorEvent',
        source: 'agent',
        tool_name: 'terminal',
        tool_call_id: `call-${first.id}`,
        error: 'x',
      };
      const events = [...before, failed as ConversationEvent, asked, executionStatus('waiting_for_confirmation')];
      await app.ingest(
        ada,
        id,
        events.map((event, index) => ({ producerSeq: index + 1, event })),
        2,
      );
      await app.owner.query("UPDATE app.conversation SET desired = 'rest', sandbox_status = 'PAUSED' WHERE id = $1", [
        id,
      ]);
      return { accept: true, actionIds: [asked.id] };
    }

    it('lets who wrote before the last approved action approve again, if the agent had heard it by then', async () => {
      const [his, hers] = [
        message('his', { name: 'Bob', id: bob.userId }),
        message('hers', { name: 'Carol', id: carol.userId }),
      ];
      const { id, yes, asked } = await asking(his, update('last_user_message_id', his.id));
      expect(await verdict(await member('Dave'), id, yes)).toBe('200');
      const again = await askingAgain(id, asked, hers);
      expect([await verdict(carol, id, again), await verdict(bob, id, again)]).toEqual([
        '403 conversation.four-eyes',
        '200',
      ]);
    });

    it('takes no asker out for an approval that a hostile sandbox only wrote into its log, by whatever name', async () => {
      const his = message('his', { name: 'Bob', id: bob.userId });
      const dave = await member('Dave');
      const names = [
        { by: 'Dave' },
        { by: 'Dave', by_id: dave.userId, by_kind: 'user', through: 'sandbox-gateway' },
        { by: 'Dave', by_id: dave.userId, by_kind: 'user', through: 'app', receipt: 'forged' },
      ];
      for (const name of names) {
        const { id, asked } = await asking(his, update('last_user_message_id', his.id));
        await app.owner.query(
          `INSERT INTO app.sandbox_grant (id, org_id, user_id, conversation_id, port, ticket_expires_at, expires_at) VALUES ($1, $2, $3, $4, 8000, now(), now() + interval '1 hour')`,
          [`sbx_${randomUUID()}`, ada.orgId, dave.userId, id],
        );
        const yes = await askingAgain(
          id,
          asked,
          update('confirmation', { accepted: true, action_ids: [asked.id], ...name }),
        );
        expect(await verdict(bob, id, yes)).toBe('403 conversation.four-eyes');
      }
    });

    it('counts for a message that names nobody whoever had access to the sandbox', async () => {
      const { id, yes } = await asking(message('whose'));
      await app.owner.query(
        `INSERT INTO app.sandbox_grant (id, org_id, user_id, conversation_id, port, ticket_expires_at, expires_at) VALUES ($1, $2, $3, $4, 8000, now(), now() + interval '1 hour')`,
        [`sbx_${randomUUID()}`, ada.orgId, bob.userId, id],
      );
      expect([await verdict(bob, id, yes), await verdict(carol, id, yes)]).toEqual([
        '403 conversation.four-eyes',
        '200',
      ]);
    });

    it('takes no yes of a service account, nor of who stands behind one that wrote', async () => {
      const account = await app.http<{ id: string }>(bob, 'POST', `/api/v1/orgs/${ada.orgId}/service-accounts`, {
        name: 'Robot',
        role: 'member',
      });
      const key = await app.http<{ token: string }>(carol, 'POST', `/api/v1/orgs/${ada.orgId}/api-keys`, {
        name: 'k',
        scopes: ['conversation:read', 'conversation:write'],
        serviceAccountId: account.body.id,
      });
      const asRobot = { authorization: `Bearer ${key.body.token}` };
      const { id, yes } = await asking();
      const approved = await app.http<{ code?: string }>(
        null,
        'POST',
        app.path(ada, id, '/confirmation'),
        yes,
        asRobot,
      );
      expect([approved.status, approved.body.code]).toEqual([403, 'conversation.four-eyes']);
      expect(
        (await app.http(null, 'POST', app.path(ada, id, '/messages'), { text: 'by robot' }, asRobot)).status,
      ).toBeLessThan(300);
      expect([await verdict(bob, id, yes), await verdict(carol, id, yes)]).toEqual(
        Array(2).fill('403 conversation.four-eyes'),
      );
    });

    it('adversary: takes no yes of who has a service account make another one that writes', async () => {
      const make = async (name: string, role: string, headers?: Record<string, string>) => {
        const by = headers === undefined ? bob : null;
        const made = await app.http<{ id: string }>(
          by,
          'POST',
          `/api/v1/orgs/${ada.orgId}/service-accounts`,
          { name, role },
          headers,
        );
        expect(made.status).toBe(201);
        return made.body.id;
      };
      const keyOf = async (serviceAccountId: string, scopes: readonly string[], headers?: Record<string, string>) => {
        const body = { name: 'k', scopes, serviceAccountId };
        const key = await app.http<{ token: string }>(
          headers === undefined ? bob : null,
          'POST',
          `/api/v1/orgs/${ada.orgId}/api-keys`,
          body,
          headers,
        );
        return { authorization: `Bearer ${key.body.token}` };
      };
      const says = ['conversation:read', 'conversation:write'];
      const asMaker = await keyOf(await make('Maker', 'admin'), [
        ...ROLE_PERMISSIONS.member,
        'service-account:write',
        'api-key:manage',
      ]);
      const asMade = await keyOf(await make('Made', 'member', asMaker), says, asMaker);
      const { id, yes } = await asking();
      expect(
        (await app.http(null, 'POST', app.path(ada, id, '/messages'), { text: 'by the one that was made' }, asMade))
          .status,
      ).toBeLessThan(300);
      expect([await verdict(bob, id, yes), await verdict(carol, id, yes)]).toEqual([
        '403 conversation.four-eyes',
        '200',
      ]);
    });

    it('allows nothing ahead of time: an approval makes no rule', async () => {
      const { id, yes } = await asking();
      expect(await verdict(bob, id, { ...yes, always: { tool_name: 'terminal', match: 'prefix', value: 'npm' } })).toBe(
        '403 conversation.four-eyes',
      );
      expect(await verdict(bob, id, yes)).toBe('200');
    });
  });

  describe('given in the sandbox', () => {
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

  it('is never given by a resume, also where the row does not know yet that the agent waits', async () => {
    const sandbox = await app.fakeSandbox((request) =>
      request.url?.endsWith('/run') === true
        ? { status: 409, body: '{"code":"conversation.awaits-confirmation"}' }
        : { status: 200 },
    );
    const { id } = await app.conversation(ada);
    await app.started(id, 1, sandbox);
    await app.ingest(ada, id, [{ producerSeq: 1, event: executionStatus('running') }]);
    const resumed = await Promise.all(
      [1, 2, 3].map(() => app.http<{ code: string }>(ada, 'POST', app.path(ada, id, '/resume'))),
    );
    expect(new Set(resumed.map(({ status, body }) => `${status} ${body.code}`))).toEqual(
      new Set(['409 conversation.awaits-confirmation']),
    );
    expect(await audits(id)).not.toContain('conversation.resume');
  });

  it('does not take "go on" for a yes', async () => {
    const sandbox = await app.fakeSandbox(() => ({ status: 200 }));
    const { id } = await waiting(sandbox);
    const resumed = await app.http<{ code: string }>(ada, 'POST', app.path(ada, id, '/resume'));
    expect([resumed.status, resumed.body.code, sandbox.asked]).toEqual([409, 'conversation.awaits-confirmation', []]);
  });

  it('asks at least as often as the organization wants, from the next step on', async () => {
    const sandbox = await app.fakeSandbox(() => ({ status: 200 }));
    const { id } = await waiting(sandbox);
    const put = (mode: string) =>
      app.http<{ confirmation: string }>(ada, 'PUT', app.path(ada, id, '/confirmation-mode'), { mode });
    expect((await put('risky')).body.confirmation).toBe('risky');
    expect(sandbox.asked).toEqual(Array(2).fill(`PUT /api/slipway/conversations/${id}/settings`));
    const { rows } = await app.owner.query(
      "SELECT settings_version, checkpoint -> 'settingsVersion' AS acknowledged FROM app.conversation WHERE id = $1",
      [id],
    );
    // 1 of the organization's own.
    expect(rows).toEqual([{ settings_version: 1, acknowledged: 2 }]);
    expect(
      (await app.owner.query("SELECT 1 FROM app.outbox WHERE queue = 'conversation-deliver' AND key = $1", [id]))
        .rowCount,
    ).toBe(1);
    expect((await put('sometimes')).status).toBe(400);
    expect(await audits(id)).toContain('conversation.set-confirmation');
    await settings({ confirmation: 'always' });
    const made = await app.http<{ confirmation: string }>(ada, 'POST', app.path(ada), {
      prompt: 'x',
      confirmation: 'never',
    });
    expect(made.body.confirmation).toBe('always');
    await settings({ confirmation: 'never' });
  });

  it('changes nothing when the sandbox does not answer, and holds when it falls silent after that', async () => {
    const put = (id: string, mode: string) =>
      app.http<{ code?: string }>(ada, 'PUT', app.path(ada, id, '/confirmation-mode'), { mode });
    const mode = async (id: string) =>
      (await app.owner.query('SELECT confirmation_mode FROM app.conversation WHERE id = $1', [id])).rows[0]
        .confirmation_mode;
    const deaf = await waiting(await app.fakeSandbox(() => ({ status: 500 })));
    expect([(await put(deaf.id, 'always')).body.code, await mode(deaf.id)]).toEqual(['sandbox.unreachable', 'never']);
    let answers = 0;
    const late = await waiting(await app.fakeSandbox(() => ({ status: ++answers > 1 ? 500 : 200 })));
    expect([(await put(late.id, 'always')).status, await mode(late.id), answers]).toEqual([200, 'always', 2]);
    expect(
      (await app.owner.query("SELECT 1 FROM app.outbox WHERE queue = 'conversation-deliver' AND key = $1", [late.id]))
        .rowCount,
    ).toBe(1);
  });
});
