import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { inOrg } from '@slipway/db/sql';
import { type Harness, ORG, openHarness } from '../testing/harness.js';

describe('whose budget a conversation counts for', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await openHarness();
  });
  afterAll(() => harness.close());
  beforeEach(() => {
    harness.peers.spendings.splice(0);
    harness.peers.gatewayAway = false;
  });

  const deliver = async (id: string): Promise<void> => {
    await harness.addJob('conversation-deliver', id);
    await harness.start(id);
  };
  const limit = (id: string, usd: string | null): Promise<unknown> =>
    inOrg(harness.pool, ORG, (client) =>
      client.query('UPDATE app.conversation SET max_budget_usd = $2::numeric WHERE id = $1', [id, usd]),
    );

  it('is sent to the gateway with the new key, before the first message', async () => {
    const { id } = await harness.create();
    await limit(id, '2.5');
    await harness.start(id);
    expect(harness.peers.spendings).toEqual([{ user: 'usr_a', limitUsd: '2.5', messages: 0 }]);
  });

  it('changes to the author of a message before the agent has it, the later author of two', async () => {
    const { id } = await harness.create();
    await harness.start(id);
    harness.peers.spendings.splice(0);
    await harness.send(id, 'mine', 'usr_b');
    await harness.send(id, 'mine, too', 'usr_b');
    await harness.send(id, 'and mine', 'usr_c');
    await deliver(id);
    expect(harness.peers.spendings).toEqual([
      { user: 'usr_b', limitUsd: null, messages: 1 },
      { user: 'usr_c', limitUsd: null, messages: 3 },
    ]);
  });

  it('is not changed by a notice of the platform, which is delivered as one', async () => {
    const { id, message } = await harness.create();
    await harness.start(id);
    harness.peers.spendings.splice(0);
    const notices = await Promise.all(
      ['read', 'start'].map(async (kind) => {
        const notice = await harness.send(id, `to ${kind}`, 'platform');
        await inOrg(harness.pool, ORG, (client) =>
          client.query('UPDATE app.inbox_message SET notice = $2 WHERE id = $1', [notice, kind]),
        );
        return notice;
      }),
    );
    await deliver(id);
    expect(harness.peers.spendings).toEqual([]);
    expect(new Set(harness.peers.messagesOf(id))).toEqual(new Set([message, ...notices]));
  });

  it('stays that of the last author when the conversation starts again', async () => {
    const { id } = await harness.create();
    await harness.start(id);
    await harness.send(id, 'mine', 'usr_b');
    await deliver(id);
    await harness.desire(id, 'rest');
    await harness.rest(id);
    await harness.desire(id, 'run');
    await harness.addJob('conversation-start', id);
    harness.peers.spendings.splice(0);
    await harness.start(id);
    expect(harness.peers.spendings.map(({ user }) => user)).toEqual(['usr_b']);
  });

  it('keeps a message waiting while the gateway does not acknowledge', async () => {
    const { id, message } = await harness.create();
    await harness.start(id);
    harness.peers.gatewayAway = true;
    const next = await harness.send(id, 'mine', 'usr_b');
    await expect(deliver(id)).rejects.toMatchObject({ code: 'service.unavailable' });
    expect(harness.peers.messagesOf(id)).toEqual([message]);
    harness.peers.gatewayAway = false;
    await deliver(id);
    expect(harness.peers.messagesOf(id)).toEqual([message, next]);
  });

  it('has the conversation’s limit as it was changed last, once', async () => {
    const { id } = await harness.create();
    await harness.start(id);
    harness.peers.spendings.splice(0);
    await limit(id, '1');
    await deliver(id);
    await deliver(id);
    expect(harness.peers.spendings.map(({ limitUsd }) => limitUsd)).toEqual(['1']);
  });

  it('has a limit that is changed while an older one is on its way', async () => {
    const { id } = await harness.create();
    await harness.start(id);
    harness.peers.spendings.splice(0);
    await limit(id, '3');
    let first = true;
    harness.peers.onRequest = async (request, moment) => {
      if (!first || moment !== 'before' || !request.includes('/internal/spending/')) return;
      first = false;
      await limit(id, '1');
    };
    await deliver(id);
    harness.peers.onRequest = () => {};
    expect(harness.peers.spendings.map(({ limitUsd }) => limitUsd)).toEqual(['3', '1']);
  });
});
