import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { ConversationEvent } from '@slipway/contracts/events';
import type { ConnectionWithSecret } from '@slipway/contracts/integrations';
import { waitingActions } from '@slipway/integrations';
import { createQueue, type Queue } from '@slipway/queue';
import { createLogger } from '@slipway/telemetry';
import { until } from '@slipway/testing';
import { FEATURES } from '../../app.module.js';
import { ConversationApp, executionStatus, riskyCommand, type User } from '../../testing/conversation-app.js';

const SECRET = '8f742231b10e8888abcd99yyyzzz85a5';
type Action = Extract<ConversationEvent, { kind: 'ActionEvent' }>;

jest.setTimeout(180_000);

describe('buttons in Slack', () => {
  let app: ConversationApp;
  let queue: Queue;
  let olga: User;
  let bob: User;
  let slack = '';
  let presses = 0;
  beforeAll(async () => {
    app = await ConversationApp.start({ features: FEATURES });
    queue = await createQueue({
      databaseUrl: app.database.urls.app,
      applicationName: 'test',
      logger: createLogger('test', 'silent'),
    });
    olga = await app.user('Olga');
    const body = { provider: 'slack', name: 's', webhookSecret: SECRET };
    slack = (
      await app.http<ConnectionWithSecret>(olga, 'POST', `/api/v1/orgs/${olga.orgId}/integrations/connections`, body)
    ).body.connection.id;
    bob = await member('Bob', 'member', 'U2');
    await link('U1', olga);
    await member('Vera', 'viewer', 'U3');
  });
  afterAll(async () => {
    await queue?.close();
    await app?.close();
  });

  const link = (external: string, { userId }: User) =>
    app.owner.query(
      `INSERT INTO app.linked_account (id, org_id, provider, host, external_user_id, user_id, login) VALUES (gen_random_uuid()::text, $1, 'slack', 'slack.com', $2, $3, 'x')`,
      [olga.orgId, external, userId],
    );
  async function member(name: string, role: string, external: string): Promise<User> {
    const user = await app.user(name);
    await app.owner.query('INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, $3)', [
      olga.orgId,
      user.userId,
      role,
    ]);
    await link(external, user);
    return user;
  }
  const setting = (values: object) =>
    app.owner.query('UPDATE app.org SET settings = settings || $2::jsonb WHERE id = $1', [
      olga.orgId,
      JSON.stringify(values),
    ]);

  /** A conversation of a thread whose agent waits. @returns the name of what it shows. */
  async function waiting(sandbox?: Parameters<ConversationApp['started']>[2], command = 'npm publish') {
    const { id } = await app.conversation(olga);
    const ts = `${1_760_000_000 + presses}.${String(Math.floor(Math.random() * 1e6)).padStart(6, '0')}`;
    await app.owner.query(
      `INSERT INTO app.integration_thread (connection_id, thread_key, org_id, conversation_id, place, title, confidential) VALUES ($1, $2, $3, $4, $5, 't', true)`,
      [slack, `T1/C1/${ts}`, olga.orgId, id, JSON.stringify({ team: 'T1', channel: 'C1', ts })],
    );
    await app.started(id, 1, sandbox);
    const asked = { ...(riskyCommand() as Action), action: { kind: 'TerminalAction', command } } as Action;
    const events = [executionStatus('running'), asked, executionStatus('waiting_for_confirmation')];
    await app.ingest(
      olga,
      id,
      events.map((event, index) => ({ producerSeq: index + 1, event })),
    );
    if (sandbox === undefined)
      await app.owner.query("UPDATE app.conversation SET desired = 'rest' WHERE id = $1", [id]);
    return { id, ts, asked, of: waitingActions(id, [asked]).name };
  }

  interface Pressed {
    readonly ts: string;
    readonly kind: string;
    readonly of?: string;
    readonly user?: string;
    readonly team?: string;
    readonly trigger?: string;
  }
  async function deliver({ ts, kind, of, user = 'U1', team = 'T1', trigger = randomUUID() }: Pressed): Promise<number> {
    presses += 1;
    const payload = {
      type: 'block_actions',
      trigger_id: trigger,
      user: { id: user, team_id: team, username: 'x' },
      team: { id: 'T1' },
      container: { channel_id: 'C1', message_ts: `${ts}9`, thread_ts: ts },
      actions: [
        {
          action_id: `slipway.press.${kind}`,
          action_ts: `${1_760_000_000 + presses}.1`,
          ...(of === undefined ? {} : { value: of }),
        },
      ],
    };
    const raw = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
    const at = String(Math.floor(Date.now() / 1_000));
    const signature = `v0=${createHmac('sha256', SECRET).update(`v0:${at}:${raw}`).digest('hex')}`;
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': at,
      'x-slack-signature': signature,
    };
    return (await fetch(`${app.url}/api/integration/slack/events/${slack}`, { method: 'POST', headers, body: raw }))
      .status;
  }
  /** A press by a signed delivery, which worker hands over. @returns what was decided. */
  async function press(pressed: Pressed): Promise<string> {
    expect(await deliver(pressed)).toBe(200);
    const { rows } = await app.owner.query<{ id: string }>(
      `SELECT id FROM app.integration_delivery WHERE connection_id = $1 ORDER BY received_at DESC LIMIT 1`,
      [slack],
    );
    return decided(rows[0]?.id ?? '');
  }
  async function decided(id: string): Promise<string> {
    await queue.add('integration-press', { orgId: olga.orgId, deliveryId: id }, { key: id });
    const row = await until('the press is decided', async () => {
      const { rows } = await app.owner.query<{ state: string; reason: string }>(
        'SELECT state, reason FROM app.integration_delivery WHERE id = $1',
        [id],
      );
      return rows[0]?.state === 'received' ? null : rows[0];
    });
    return `${row?.state} ${row?.reason}`;
  }
  const audits = async (id: string) =>
    (
      await app.owner.query<{ action: string; actor_id: string }>(
        `SELECT action, actor_id FROM app.audit_entry WHERE target = $1 AND action ~ 'approve|reject|stop' ORDER BY created_at`,
        [id],
      )
    ).rows.map(({ action, actor_id }) => [action, actor_id]);

  it('approve for the linked user, at the sandbox, and in the audit under their name', async () => {
    const sandbox = await app.fakeSandbox(() => ({ status: 200 }));
    const { id, ts, of } = await waiting(sandbox);
    expect(await press({ ts, kind: 'approve', of, user: 'U2' })).toBe('done approved');
    expect(sandbox.asked).toEqual([`POST /api/conversations/${id}/events/respond_to_confirmation`]);
    expect(await audits(id)).toEqual([['conversation.approve', bob.userId]]);
    const { rowCount } = await app.owner.query(
      `SELECT 1 FROM app.outbox WHERE queue = 'integration-answer' AND key = $1`,
      [id],
    );
    expect(rowCount).toBe(1);
  });

  it('reject with a reason that names where, and answer what waits without a sandbox once', async () => {
    const { id, ts, of } = await waiting();
    expect(await press({ ts, kind: 'reject', of })).toBe('done rejected');
    expect(await press({ ts, kind: 'approve', of, user: 'U2' })).toBe('ignored answered-already');
    const log = (await app.log(id)).map(({ event }) => event);
    expect(log.filter((event) => event.kind === 'UserRejectObservation')).toMatchObject([
      { rejection_reason: 'Rejected in Slack.' },
    ]);
    expect(await audits(id)).toEqual([['conversation.reject', olga.userId]]);
  });

  it('stop the agent at its sandbox', async () => {
    const sandbox = await app.fakeSandbox(() => ({ status: 200 }));
    const { id, ts } = await waiting(sandbox);
    expect(await press({ ts, kind: 'stop' })).toBe('done run-stopped');
    expect(sandbox.asked).toEqual([`POST /api/conversations/${id}/interrupt`]);
    expect(await audits(id)).toEqual([['conversation.stop', olga.userId]]);
  });

  it('adversary: do nothing for who is not linked, a guest, a viewer, or another thread', async () => {
    const { id, ts, of } = await waiting();
    const [approve, reject] = [
      { ts, kind: 'approve', of },
      { ts, kind: 'reject', of },
    ];
    expect(await press({ ...approve, user: 'U9' })).toBe('refused actor-not-linked');
    expect(await press({ ...approve, team: 'T2' })).toBe('refused actor-foreign');
    expect(await press({ ...approve, user: 'U3' })).toBe('refused actor-not-allowed');
    expect(await press({ ...reject, user: 'U3' })).toBe('refused actor-not-allowed');
    expect(await press({ ts, kind: 'stop', user: 'U3' })).toBe('refused actor-not-allowed');
    expect(await press({ ...approve, ts: '1.1' })).toBe('ignored answered-already');
    await app.owner.query('UPDATE app.user_account SET deactivated_at = now() WHERE id = $1', [bob.userId]);
    expect(await press({ ...approve, user: 'U2' })).toBe('refused actor-not-linked');
    await app.owner.query('UPDATE app.user_account SET deactivated_at = NULL WHERE id = $1', [bob.userId]);
    expect(await audits(id)).toEqual([]);
    expect(await press(approve)).toBe('done approved');
  });

  it('adversary: do not approve for who asked, nor twice, where four eyes must', async () => {
    await setting({ fourEyes: true });
    const { id, ts, of } = await waiting();
    expect(await press({ ts, kind: 'approve', of })).toBe('refused four-eyes');
    const { rows } = await app.owner.query(`SELECT kind, subject FROM app.thread_answer WHERE thread_key = $1`, [
      `T1/C1/${ts}`,
    ]);
    expect(rows).toEqual([{ kind: 'notice', subject: 'four-eyes/U1' }]);
    expect(await press({ ts, kind: 'approve', of, user: 'U2' })).toBe('done approved');
    expect(await press({ ts, kind: 'approve', of, user: 'U2' })).toBe('ignored answered-already');
    expect(await press({ ts, kind: 'reject', of })).toBe('ignored answered-already');
    expect(await audits(id)).toEqual([['conversation.approve', bob.userId]]);
    await setting({ fourEyes: false });
  });

  it('adversary: do not approve for who holds a Slack account alone, where a second factor is wanted; they may still reject', async () => {
    // Before the rule: Olga, who starts it, has no second factor either.
    const { id, ts, of } = await waiting();
    await app.owner.query('UPDATE app.org SET second_factor = true WHERE id = $1', [olga.orgId]);
    expect(await press({ ts, kind: 'approve', of, user: 'U2' })).toBe('refused second-factor');
    const { rows } = await app.owner.query(`SELECT kind, subject FROM app.thread_answer WHERE thread_key = $1`, [
      `T1/C1/${ts}`,
    ]);
    expect(rows).toEqual([{ kind: 'notice', subject: 'second-factor/U2' }]);
    expect(await press({ ts, kind: 'reject', of, user: 'U2' })).toBe('done rejected');
    expect(await audits(id)).toEqual([['conversation.reject', bob.userId]]);
    await app.owner.query('UPDATE app.org SET second_factor = false WHERE id = $1', [olga.orgId]);
  });

  it('adversary: answer nothing but what was shown, whole', async () => {
    const first = await waiting();
    const second = await waiting();
    for (const of of ['', 'x', second.of])
      expect(await press({ ts: first.ts, kind: 'approve', of })).toBe('ignored answered-already');
    const long = await waiting(undefined, `echo ${'x'.repeat(3_000)}`);
    expect(await press({ ts: long.ts, kind: 'approve', of: long.of })).toBe('ignored answered-already');
    expect(await press({ ts: long.ts, kind: 'reject', of: long.of })).toBe('done rejected');
    expect([await audits(first.id), await audits(second.id)]).toEqual([[], []]);
  });

  it('adversary: a delivery that comes again is one press, and a press is no message', async () => {
    const { id, ts, of } = await waiting();
    const trigger = randomUUID();
    expect(await deliver({ ts, kind: 'approve', of, trigger })).toBe(200);
    expect(await deliver({ ts, kind: 'approve', of, trigger })).toBe(200);
    const { rows } = await app.owner.query<{ id: string }>(
      'SELECT id FROM app.integration_delivery WHERE delivery_id = $1',
      [trigger],
    );
    expect(rows).toHaveLength(1);
    const one = rows[0]?.id ?? '';
    expect(await Promise.all([decided(one), decided(one)])).toEqual(['done approved', 'done approved']);
    expect(await audits(id)).toHaveLength(1);
    const { rowCount } = await app.owner.query('SELECT 1 FROM app.inbox_message WHERE conversation_id = $1', [id]);
    expect(rowCount).toBe(1);
  });

  it('repeat what a sandbox did not take, and give up what is late', async () => {
    let away = true;
    const sandbox = await app.fakeSandbox(() => ({ status: away ? 500 : 200 }));
    const { id, ts, of } = await waiting(sandbox);
    expect(await deliver({ ts, kind: 'approve', of, trigger: `late-${id}` })).toBe(200);
    const { rows } = await app.owner.query<{ id: string }>(
      'SELECT id FROM app.integration_delivery WHERE delivery_id = $1',
      [`late-${id}`],
    );
    const one = rows[0]?.id ?? '';
    const deciding = decided(one);
    await until('it was tried', () => sandbox.asked.length > 0);
    away = false;
    expect(await deciding).toBe('done approved');
    const late = await waiting();
    expect(await deliver({ ...late, kind: 'approve', trigger: `late-${late.id}` })).toBe(200);
    const { rows: aged } = await app.owner.query<{ id: string }>(
      `UPDATE app.integration_delivery SET received_at = now() - interval '11 minutes' WHERE delivery_id = $1 RETURNING id`,
      [`late-${late.id}`],
    );
    expect(await decided(aged[0]?.id ?? '')).toBe('refused answer-late');
    expect(await audits(late.id)).toEqual([]);
  });
});
