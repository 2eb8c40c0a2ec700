import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { executionStatus, riskyCommand } from '../../testing/conversation-app.js';
import { ada, answer, app, audits, settings, setUpConfirmation, waiting } from './confirmation-setup.js';

describe('a word on what the agent asks for', () => {
  setUpConfirmation();

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
