import { after, before, beforeEach, describe, it } from 'node:test';
import { inOrg } from '@slipway/db/sql';
import { expect } from 'expect';
import { ORG, openScene, type Scene } from '../testing/scene.js';

describe('whose budget a conversation counts for', () => {
  let scene: Scene;
  before(async () => {
    scene = await openScene();
  });
  after(() => scene.close());
  beforeEach(() => {
    scene.peers.spendings.splice(0);
    scene.peers.gatewayAway = false;
  });

  const deliver = async (id: string): Promise<void> => {
    await scene.addJob('conversation-deliver', id);
    await scene.start(id);
  };
  const limit = (id: string, usd: string | null): Promise<unknown> =>
    inOrg(scene.pool, ORG, (client) => client.query('UPDATE app.conversation SET max_budget_usd = $2::numeric WHERE id = $1', [id, usd]));

  it('is told to the gateway with the new key, before the first message', async () => {
    const { id } = await scene.create();
    await limit(id, '2.5');
    await scene.start(id);
    expect(scene.peers.spendings).toEqual([{ user: 'usr_a', limitUsd: '2.5', messages: 0 }]);
  });

  it('changes to the author of a message before the agent has it, the later author of two', async () => {
    const { id } = await scene.create();
    await scene.start(id);
    scene.peers.spendings.splice(0);
    await scene.send(id, 'mine', 'usr_b');
    await scene.send(id, 'mine, too', 'usr_b');
    await scene.send(id, 'and mine', 'usr_c');
    await deliver(id);
    expect(scene.peers.spendings).toEqual([
      { user: 'usr_b', limitUsd: null, messages: 1 },
      { user: 'usr_c', limitUsd: null, messages: 3 },
    ]);
  });

  it('stays that of the last author when the conversation starts again', async () => {
    const { id } = await scene.create();
    await scene.start(id);
    await scene.send(id, 'mine', 'usr_b');
    await deliver(id);
    await scene.desire(id, 'rest');
    await scene.rest(id);
    await scene.desire(id, 'run');
    await scene.addJob('conversation-start', id);
    scene.peers.spendings.splice(0);
    await scene.start(id);
    expect(scene.peers.spendings.map(({ user }) => user)).toEqual(['usr_b']);
  });

  it('keeps a message waiting while the gateway cannot be told', async () => {
    const { id, message } = await scene.create();
    await scene.start(id);
    scene.peers.gatewayAway = true;
    const next = await scene.send(id, 'mine', 'usr_b');
    await expect(deliver(id)).rejects.toMatchObject({ code: 'service.unavailable' });
    expect(scene.peers.messagesOf(id)).toEqual([message]);
    scene.peers.gatewayAway = false;
    await deliver(id);
    expect(scene.peers.messagesOf(id)).toEqual([message, next]);
  });

  it('has the conversation’s limit as it was changed last, once', async () => {
    const { id } = await scene.create();
    await scene.start(id);
    scene.peers.spendings.splice(0);
    await limit(id, '1');
    await deliver(id);
    await deliver(id);
    expect(scene.peers.spendings.map(({ limitUsd }) => limitUsd)).toEqual(['1']);
  });

  it('has a limit that is changed while an older one is on its way', async () => {
    const { id } = await scene.create();
    await scene.start(id);
    scene.peers.spendings.splice(0);
    await limit(id, '3');
    let first = true;
    scene.peers.onRequest = async (request, moment) => {
      if (!first || moment !== 'before' || !request.includes('/internal/spending/')) return;
      first = false;
      await limit(id, '1');
    };
    await deliver(id);
    scene.peers.onRequest = () => {};
    expect(scene.peers.spendings.map(({ limitUsd }) => limitUsd)).toEqual(['3', '1']);
  });
});
