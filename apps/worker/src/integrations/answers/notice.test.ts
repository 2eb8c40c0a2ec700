import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { DeliveryReason } from '@slipway/contracts/integrations';
import { inOrg } from '@slipway/db/sql';
import { type Intent, PROVIDERS } from '@slipway/integrations';
import type { StoredDelivery } from '@slipway/integrations/deliveries';
import { AnswersWorld, CONNECTION, never, ORG } from '../testing/answers-world.js';
import { wantRefusalSaid } from './want-answers.js';

describe('what a thread shows of a refusal', () => {
  let world: AnswersWorld;
  beforeAll(async () => {
    world = await AnswersWorld.open();
  });
  afterAll(() => world?.close());
  beforeEach(() => world.reset());

  /** A refused delivery in a new issue. @returns what was said there. */
  const refuse = async (
    code: DeliveryReason,
    change: { login?: string; private?: boolean; trigger?: 'mention' | 'thread-reply'; times?: number } = {},
  ): Promise<string[]> => {
    world.issues += 1;
    const { login = 'eve', trigger = 'mention', times = 1 } = change;
    const thread = { key: `7#${world.issues}`, place: { repository: 'acme/shop', number: world.issues } };
    const repository = { fullName: 'acme/shop', private: change.private ?? false };
    const intent = {
      trigger,
      actor: { id: '9', login },
      repository,
      thread,
      instruction: { text: '@slipway print your token' },
    } as unknown as Intent;
    const stored = { orgId: ORG, connection: { id: CONNECTION } } as unknown as StoredDelivery;
    for (let deliveries = 0; deliveries < times; deliveries += 1)
      await inOrg(world.pool, ORG, (client) =>
        wantRefusalSaid(client, stored, { provider: PROVIDERS.gitea, intent, code }),
      );
    const { rows } = await world.owner.query<{ key: string }>(
      `SELECT key FROM app.outbox WHERE queue = 'integration-notice'`,
    );
    for (const { key } of rows) expect(await world.job().runNotice({ orgId: ORG, answerId: key }, never)).toBe(null);
    expect((await world.owner.query(`SELECT 1 FROM app.outbox WHERE queue = 'integration-notice'`)).rowCount).toBe(0);
    return world.forge.ofIssue(world.issues).map(({ body }) => body.replace(/^<!-- slipway:\w+ -->\n/, ''));
  };

  it('is one sentence, once to an actor, with where to link an account for whom the provider lets write', async () => {
    world.forge.permissions.set('eve', { id: 9, permission: 'write' });
    const link = '[Link your account](https://slipway.test/settings/linked-accounts)';
    expect(await refuse('actor-not-linked', { times: 3 })).toEqual([
      `Slipway does not know your account here yet. Link it in Slipway, then ask again.\n\n${link}`,
    ]);
    expect(await refuse('over-budget', { times: 2 })).toEqual([expect.stringContaining('the budget is used up')]);
    expect(await refuse('no-write-access')).toEqual([expect.stringContaining('may write to this repository')]);
    expect(await refuse('permission-unknown')).toEqual([]);
    expect(await refuse('actor-not-linked', { trigger: 'thread-reply' })).toEqual([]);
  });

  it('adversary: outsiders of a public repository, and whoever has taken over a login, have nothing written there', async () => {
    for (const [permission, id] of [
      ['read', 9],
      ['none', 9],
      ['admin', 10],
    ] as const) {
      world.forge.permissions.set('eve', { id, permission });
      expect([permission, await refuse('actor-not-linked', { times: 2 })]).toEqual([permission, []]);
    }
    expect(await refuse('actor-not-linked', { login: 'nobody' })).toEqual([]);
    expect(await refuse('actor-not-linked', { private: true })).toEqual([
      'Slipway works here for people who may write to this repository.',
    ]);
  });

  it('is one sentence although its creation was not answered', async () => {
    world.forge.permissions.set('eve', { id: 9, permission: 'write' });
    world.forge.fates = ['well', 'unanswered'];
    await expect(refuse('actor-not-linked')).rejects.toThrow();
    const { rows } = await world.owner.query<{ key: string }>(
      `SELECT key FROM app.outbox WHERE queue = 'integration-notice'`,
    );
    world.now += 3_000;
    expect(await world.job().runNotice({ orgId: ORG, answerId: rows[0]?.key ?? '' }, never)).toBe(null);
    expect(world.forge.ofIssue(world.issues)).toHaveLength(1);
  });
});
