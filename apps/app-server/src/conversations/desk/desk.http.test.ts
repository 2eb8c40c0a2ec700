import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Conversation, Desk, type DeskMark, type DeskRow, type ReadMark } from '@slipway/contracts/conversations';
import type { ConversationEvent } from '@slipway/contracts/events';
import { ConversationApp, executionStatus, riskyCommand, thought, type User } from '../../testing/conversation-app.js';

describe('the Desk', () => {
  let app: ConversationApp;
  let ada: User;
  let ben: User;
  beforeAll(async () => {
    app = await ConversationApp.start();
    ada = await app.user('Ada');
    ben = { ...(await app.user('Ben')), orgId: ada.orgId };
    await member(ben, 'member');
  });
  afterAll(() => app?.close());

  const member = (user: User, role: string) =>
    app.owner.query('INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, $3)', [
      ada.orgId,
      user.userId,
      role,
    ]);
  const desk = async (user: User, query = ''): Promise<Desk> => {
    const { status, body } = await app.http(user, 'GET', `/api/v1/orgs/${user.orgId}/desk${query}`);
    expect(status).toBe(200);
    return Desk.parse(body);
  };
  const rowOf = async (user: User, id: string): Promise<DeskRow | undefined> =>
    (await desk(user)).rows.find(({ conversation }) => conversation.id === id);
  const mark = (user: User, id: string, body: object) =>
    app.http<ReadMark & { code?: string }>(user, 'PUT', app.path(user, id, '/read-mark'), body);
  const deskMark = (user: User, id: string, body: object) =>
    app.http<DeskMark & { code?: string }>(user, 'PATCH', app.path(user, id, '/desk-mark'), body);

  async function after(...events: ConversationEvent[]): Promise<string> {
    const { id } = await app.conversation(ada);
    await app.started(id);
    await app.ingest(
      ada,
      id,
      events.map((event, index) => ({ producerSeq: index + 1, event })),
    );
    return id;
  }
  const waiting = () => after(executionStatus('running'), riskyCommand(), executionStatus('waiting_for_confirmation'));

  it('shows what an agent asks leave for, in its own words, until it is answered', async () => {
    const action = riskyCommand();
    const id = await after(executionStatus('running'), action, executionStatus('waiting_for_confirmation'));
    expect(await rowOf(ada, id)).toMatchObject({
      group: 'needs-you',
      mayDecide: 'yes',
      decisions: [{ kind: 'approve', key: `approve:${action.id}`, seconds: 25 }],
      conversation: {
        approval: { actionId: action.id, tool: 'terminal', text: 'npm publish', risk: 'HIGH', actions: 1 },
      },
      mark: { seq: 0, doneKey: null, snoozedUntil: null, muted: false },
    });
    const answer = { accept: false, actionIds: [action.id] };
    expect((await app.http(ben, 'POST', app.path(ben, id, '/confirmation'), answer)).status).toBe(200);
    expect(((await rowOf(ada, id))?.decisions ?? []).map(({ kind }) => kind)).not.toContain('approve');
  });

  it('shows the host that a sandbox has asked for longest, to all, until its answer; old requests are over', async () => {
    const id = await after(executionStatus('running'), riskyCommand());
    const ask = (requestId: string, host: string, minutesAgo: number) =>
      app.owner.query(
        `INSERT INTO app.egress_request (org_id, id, conversation_id, claim_id, host, port, first_time, created_at)
         VALUES ($1, $2, $3, 'clm_of_a_test', $4, 443, true, now() - make_interval(mins => $5))`,
        [ada.orgId, requestId, id, host, minutesAgo],
      );
    await ask('egq_old', 'old.example.com', 25 * 60);
    await ask('egq_first', 'first.example.com', 3);
    await ask('egq_second', 'second.example.com', 2);
    const row = await rowOf(ada, id);
    expect(row).toMatchObject({
      group: 'needs-you',
      mayDecide: 'yes',
      decisions: [{ kind: 'allow', key: 'allow:egq_first', seconds: 20 }],
      conversation: {
        egress: { requestId: 'egq_first', host: 'first.example.com', port: 443, firstTime: true, requests: 2 },
      },
    });
    const viewer = { ...(await app.user('Vera')), orgId: ada.orgId };
    await member(viewer, 'viewer');
    expect((await rowOf(viewer, id))?.mayDecide).toBe('permission');
    const answer = { decision: 'deny', host: 'first.example.com', port: 443 };
    expect((await app.http(ben, 'POST', app.path(ben, id, '/egress-requests/egq_first'), answer)).status).toBe(200);
    expect((await rowOf(ada, id))?.decisions.map(({ key }) => key)).toEqual(['allow:egq_second']);
    await app.owner.query(`UPDATE app.egress_request SET state = 'expired' WHERE org_id = $1`, [ada.orgId]);
    expect(await rowOf(ada, id)).toMatchObject({ group: 'working', decisions: [], conversation: { egress: null } });
  });

  it('shows questions, what failed, what works and what is finished and was not looked at', async () => {
    const question = await after(
      executionStatus('running'),
      thought('Which of the two APIs?'),
      executionStatus('finished'),
    );
    const failed = await after(executionStatus('running'), executionStatus('error'));
    const working = await after(executionStatus('running'), riskyCommand());
    const finished = await after(executionStatus('running'), thought('It is done.'), executionStatus('finished'));
    expect(await rowOf(ada, question)).toMatchObject({
      group: 'needs-you',
      decisions: [{ kind: 'answer' }],
      conversation: { lastWord: { text: 'Which of the two APIs?' } },
    });
    expect(await rowOf(ada, failed)).toMatchObject({ group: 'needs-you', decisions: [{ kind: 'unblock' }] });
    expect(await rowOf(ada, working)).toMatchObject({
      group: 'working',
      conversation: { doing: { tool: 'terminal', text: 'npm publish' } },
    });
    const ready = await rowOf(ada, finished);
    expect(ready).toMatchObject({ group: 'ready', decisions: [] });
    await mark(ada, finished, { seq: ready?.conversation.saidSeq });
    expect([await rowOf(ada, finished), (await rowOf(ben, finished))?.group]).toEqual([undefined, 'ready']);
    const groups = (await desk(ada)).rows.map(({ group }) => group);
    expect(groups).toEqual([...groups].sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b)));
    expect((await desk(ada, `?owner=${ben.userId}`)).rows).toEqual([]);
  });

  it('says who may not decide: a viewer by role, and under four eyes who asked for it', async () => {
    const id = await waiting();
    const eve = { ...(await app.user('Eve')), orgId: ada.orgId };
    await member(eve, 'viewer');
    expect((await rowOf(eve, id))?.mayDecide).toBe('permission');
    const fourEyes = (on: boolean) =>
      app.owner.query('UPDATE app.org SET settings = settings || $2::jsonb WHERE id = $1', [
        ada.orgId,
        JSON.stringify({ fourEyes: on }),
      ]);
    await fourEyes(true);
    expect([(await rowOf(ada, id))?.mayDecide, (await rowOf(ben, id))?.mayDecide]).toEqual(['four-eyes', 'yes']);
    await fourEyes(false);
    // Marks are for whoever may look.
    expect((await mark(eve, id, { seq: 1 })).status).toBe(200);
    expect((await deskMark(eve, id, { muted: true })).status).toBe(200);
  });

  it('a read mark never goes back, also when many come at once, and never past the end of the log', async () => {
    const id = await waiting();
    const { head } = Conversation.parse((await app.http(ada, 'GET', app.path(ada, id))).body);
    const answers = await Promise.all([1, head, 2, 0, head - 1, 1].map((seq) => mark(ada, id, { seq })));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const tree = 'a'.repeat(40);
    expect((await mark(ada, id, { seq: 1, treeHash: 'b'.repeat(40) })).body).toEqual({ seq: head, treeHash: null });
    expect((await mark(ada, id, { seq: 10_000, treeHash: tree })).body).toEqual({ seq: head, treeHash: tree });
    expect((await mark(ada, id, { seq: head })).body).toEqual({ seq: head, treeHash: tree });
    const list = await app.http<{ data: Array<{ id: string; readSeq: number }> }>(ada, 'GET', app.path(ada));
    expect(list.body.data.find((each) => each.id === id)?.readSeq).toBe(head);
    const { readSeq, readAt } = Conversation.parse((await app.http(ada, 'GET', app.path(ada, id))).body);
    expect([readSeq, Date.now() - Date.parse(readAt ?? '')]).toEqual([head, expect.any(Number)]);
    expect(Conversation.parse((await app.http(ben, 'GET', app.path(ben, id))).body)).toMatchObject({
      readSeq: 0,
      readAt: null,
    });
  });

  it('refuses marks that say nothing or too much, and those of conversations that are not there', async () => {
    const id = await waiting();
    const stranger = await app.user('Stranger');
    const statuses = [
      (await mark(ada, id, { seq: -1 })).status,
      (await mark(ada, id, { seq: 1, treeHash: 'HEAD' })).status,
      (await mark(ada, id, {})).status,
      (await deskMark(ada, id, {})).status,
      (await deskMark(ada, id, { doneKey: 'x'.repeat(301) })).status,
      (await deskMark(ada, id, { snoozedUntil: '2099-01-01T00:00:00.000Z' })).status,
    ];
    expect(statuses).toEqual(Array(6).fill(400));
    for (const answer of [
      await mark(ada, randomUUID(), { seq: 1 }),
      await deskMark(ada, randomUUID(), { muted: true }),
      await mark({ ...stranger, orgId: ada.orgId }, id, { seq: 1 }),
      await mark(stranger, id, { seq: 1 }),
    ])
      expect([answer.status, answer.body.code]).toEqual([404, 'resource.not-found']);
    const { rows } = await app.owner.query('SELECT 1 FROM app.read_mark WHERE user_id = $1', [stranger.userId]);
    expect(rows).toEqual([]);
  });

  it('what one user puts off stays on the Desk of others, and comes back with the next question', async () => {
    const id = await waiting();
    const key = (await rowOf(ada, id))?.decisions[0]?.key;
    expect((await deskMark(ada, id, { doneKey: key })).body).toEqual({
      doneKey: key,
      snoozedUntil: null,
      muted: false,
    });
    expect([await rowOf(ada, id), (await rowOf(ben, id))?.group]).toEqual([undefined, 'needs-you']);
    const again = (await deskMark(ada, id, { doneKey: null })).body;
    expect([again.doneKey, (await rowOf(ada, id))?.group]).toEqual([null, 'needs-you']);
    await deskMark(ada, id, { snoozedUntil: new Date(Date.now() + 3_600_000).toISOString() });
    expect(await rowOf(ada, id)).toBeUndefined();
    await deskMark(ada, id, { snoozedUntil: null, muted: true });
    expect(await rowOf(ada, id)).toBeUndefined();
    await deskMark(ada, id, { muted: false, doneKey: key });
    await app.ingest(ada, id, [
      { producerSeq: 4, event: executionStatus('running') },
      { producerSeq: 5, event: executionStatus('error') },
    ]);
    expect(await rowOf(ada, id)).toMatchObject({ group: 'needs-you', decisions: [{ kind: 'unblock' }] });
  });
});

const ORDER = ['needs-you', 'ready', 'working', 'resting'];
