import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type {
  ConnectionWithSecret,
  DeliveryDryRun,
  IntegrationConnectionList,
  IntegrationDelivery,
  IntegrationDeliveryPage,
} from '@slipway/contracts/integrations';
import { exampleDelivery, exampleProvider } from '@slipway/integrations/testing';
import { featuresWith } from '../app.module.js';
import { ConversationApp, type User } from '../testing/conversation-app.js';

describe('connections', () => {
  let app: ConversationApp;
  let owner: User;
  let member: User;
  beforeAll(async () => {
    app = await ConversationApp.start({ features: featuresWith([exampleProvider]) });
    [owner, member] = [await app.user('Olga'), await app.user('Mia')];
    await app.owner.query('INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, $3)', [
      owner.orgId,
      member.userId,
      'member',
    ]);
  });
  afterAll(() => app?.close());

  const path = (rest = ''): string => `/api/v1/orgs/${owner.orgId}/integrations${rest}`;
  const create = async (body: object = {}): Promise<ConnectionWithSecret> => {
    const answer = await app.http<ConnectionWithSecret>(owner, 'POST', path('/connections'), {
      provider: 'example',
      name: 'Example',
      ...body,
    });
    expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
    return answer.body;
  };
  const audit = async (target: string): Promise<Array<{ action: string }>> =>
    (
      await app.owner.query(
        'SELECT action, detail, before, after FROM app.audit_entry WHERE target = $1 ORDER BY created_at',
        [target],
      )
    ).rows;

  it('have their secret in one answer, sealed in the database and nowhere else', async () => {
    const { connection, webhookSecret } = await create();
    expect(webhookSecret).toMatch(/^[\w-]{43}$/);
    expect(connection).toMatchObject({ state: 'unverified', kind: 'webhook', signature: 'hmac', host: 'example.test' });
    expect(connection.address).toBe(`${app.url}/api/integration/example/events/${connection.id}`);
    const got = await app.http(owner, 'GET', path(`/connections/${connection.id}`));
    expect(JSON.stringify(got.body)).not.toContain(webhookSecret);
    const { rows } = await app.owner.query('SELECT * FROM app.integration_secret WHERE connection_id = $1', [
      connection.id,
    ]);
    expect(JSON.stringify(rows)).not.toContain(webhookSecret);
    expect(String(rows[0]?.sealed.toString('latin1'))).not.toContain(webhookSecret);
    expect(JSON.stringify(await audit(connection.id))).not.toContain(webhookSecret);
    expect((await create({ kind: 'standard' })).webhookSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect((await create({ webhookSecret: 'given-by-the-provider' })).webhookSecret).toBe(null);
  });

  it('are changed, disabled and deleted by admins, each change in the audit', async () => {
    const { connection } = await create();
    const at = path(`/connections/${connection.id}`);
    const changed = await app.http(owner, 'PATCH', at, { name: 'Renamed', disabled: true });
    expect(changed).toMatchObject({
      status: 200,
      body: { name: 'Renamed', state: 'disabled', settings: connection.settings },
    });
    expect((await app.http(owner, 'PATCH', at, { disabled: false })).body).toMatchObject({ state: 'unverified' });
    expect((await app.http(owner, 'POST', `${at}/rotate-secret`, {})).status).toBe(200);
    expect((await app.http(owner, 'DELETE', at)).status).toBe(204);
    expect((await app.http(owner, 'GET', at)).status).toBe(404);
    expect((await audit(connection.id)).map(({ action }) => action)).toEqual([
      'integration.create',
      'integration.update',
      'integration.update',
      'integration.rotate-secret',
      'integration.delete',
    ]);
  });

  it('are refused for what is not known, and members see none', async () => {
    for (const body of [
      { provider: 'nothing' },
      { kind: 'nothing' },
      { webhookSecret: 'short' },
      { own: { ids: [], mention: '@x' } },
    ])
      expect(
        (await app.http(owner, 'POST', path('/connections'), { provider: 'example', name: 'x', ...body })).status,
      ).toBe(400);
    expect((await app.http(member, 'GET', path('/connections'))).status).toBe(403);
    expect((await app.http(member, 'POST', path('/connections'), { provider: 'example', name: 'x' })).status).toBe(403);
    const { body } = await app.http<IntegrationConnectionList>(owner, 'GET', path('/connections'));
    expect(body.data.length).toBeGreaterThan(0);
    expect((await app.http<{ data: object[] }>(owner, 'GET', path('/providers'))).body.data).toEqual([
      expect.objectContaining({ id: 'example', host: 'example.test', takesToken: false }),
    ]);
  });

  describe('the log of deliveries', () => {
    const delivered = async ({ connection, webhookSecret }: ConnectionWithSecret, body: object): Promise<void> => {
      const answer = await fetch(connection.address ?? '', {
        method: 'POST',
        ...exampleDelivery(webhookSecret ?? '', body),
      });
      expect(answer.status).toBe(200);
    };

    it('is read in pages, the newest first', async () => {
      const made = await create();
      for (const text of ['one', 'two', 'three']) await delivered(made, { text });
      const at = path(`/connections/${made.connection.id}/deliveries`);
      const first = await app.http<IntegrationDeliveryPage>(owner, 'GET', `${at}?limit=2`);
      const second = await app.http<IntegrationDeliveryPage>(
        owner,
        'GET',
        `${at}?limit=2&cursor=${first.body.page.nextCursor}`,
      );
      expect([first.body.data.length, second.body.data.length, second.body.page.nextCursor]).toEqual([2, 1, null]);
      const all = [...first.body.data, ...second.body.data];
      expect(new Set(all.map(({ id }) => id)).size).toBe(3);
      expect(all.map(({ receivedAt }) => receivedAt)).toEqual(
        [...all.map(({ receivedAt }) => receivedAt)].sort().reverse(),
      );
      expect((await app.http<IntegrationDeliveryPage>(owner, 'GET', `${at}?state=done`)).body.data).toEqual([]);
      expect((await app.http(owner, 'GET', `${at}?cursor=x`)).status).toBe(400);
    });

    it('shows the effect of a delivery, and writes nothing', async () => {
      const made = await create();
      const mention = (deed: string, more: object = {}) => ({
        trigger: 'mention',
        deed,
        thread: 'T1',
        actor: { id: '7', login: 'octo' },
        text: 'Fix it.',
        ...more,
      });
      await delivered(made, { text: 'nothing' });
      await delivered(made, mention('d1'));
      await app.owner.query(
        `INSERT INTO app.external_identity (provider, host, external_user_id, user_id, login) VALUES ('example', 'example.test', '8', $1, 'mia')`,
        [member.userId],
      );
      await delivered(made, mention('d2', { actor: { id: '8', login: 'mia' } }));
      await delivered(made, mention('d3', { actor: { id: '8', login: 'mia' }, repository: 'acme/shop' }));
      const at = path(`/connections/${made.connection.id}/deliveries`);
      const { body } = await app.http<IntegrationDeliveryPage>(owner, 'GET', at);
      const runs = await Promise.all(
        [...body.data]
          .reverse()
          .map(async ({ id }) => (await app.http<DeliveryDryRun>(owner, 'POST', `${at}/${id}/dry-run`)).body),
      );
      expect(runs.map(({ decision, user }) => [decision.state, decision.code, user?.id ?? null])).toEqual([
        ['ignored', 'no-trigger', null],
        ['refused', 'actor-not-linked', null],
        ['done', 'conversation-started', member.userId],
        // The provider was not asked whether they may write.
        ['refused', 'permission-unknown', member.userId],
      ]);
      expect((await app.http<IntegrationDeliveryPage>(owner, 'GET', at)).body).toEqual(body);
      expect((await app.owner.query('SELECT 1 FROM app.conversation WHERE org_id = $1', [owner.orgId])).rowCount).toBe(
        0,
      );
    });

    it('has a delivery decided once more, and leaves one that was acted on', async () => {
      const made = await create();
      await delivered(made, {});
      const at = path(`/connections/${made.connection.id}/deliveries`);
      const id = (await app.http<IntegrationDeliveryPage>(owner, 'GET', at)).body.data[0]?.id ?? '';
      const decided = (state: string): Promise<unknown> =>
        app.owner.query(
          `UPDATE app.integration_delivery SET state = $2, reason = 'no-trigger', decided_at = now() WHERE id = $1`,
          [id, state],
        );
      await decided('ignored');
      await app.owner.query('DELETE FROM app.outbox WHERE key = $1', [id]);
      const again = await app.http<IntegrationDelivery>(owner, 'POST', `${at}/${id}/redeliver`);
      expect(again).toMatchObject({ status: 202, body: { state: 'received', reason: null } });
      expect((await app.owner.query('SELECT 1 FROM app.outbox WHERE key = $1', [id])).rowCount).toBe(1);
      await decided('done');
      expect((await app.http<IntegrationDelivery>(owner, 'POST', `${at}/${id}/redeliver`)).body).toMatchObject({
        state: 'done',
      });
    });
  });
});
