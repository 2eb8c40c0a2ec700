import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Credential, CredentialUses } from '@slipway/contracts/credentials';
import { until } from '@slipway/testing';
import type { User } from '../../apps/app-server/dist/testing/conversation-app.js';
import { HOST, UsesWorld } from './uses-world.ts';

jest.setTimeout(60_000);
const DAY = Math.floor(Date.now() / 86_400_000);

describe('uses of a credential', () => {
  let world: UsesWorld;
  let ada: User;
  beforeAll(async () => {
    world = await UsesWorld.start(0);
    ada = await world.app.user('Ada');
  });
  afterAll(() => world?.close());
  const uses = async (credential: Credential, user = ada) =>
    world.app.http<CredentialUses>(user, 'GET', `/api/v1/orgs/${ada.orgId}/credentials/${credential.id}/uses`);
  const row = (conversation: string, credential: Credential, more: object = {}) => ({
    conversation,
    credential: credential.id,
    place: 'a place',
    day: DAY,
    uses: 1,
    ...more,
  });

  it('are counted by conversation and place, each once, whichever broker they came by', async () => {
    const credential = await world.credential(ada, { paths: ['/v1/**'] });
    const [one, other] = [await world.sandbox(ada), await world.sandbox(ada)];
    expect((await uses(credential)).body).toEqual({ uses: 0, lastAt: null, places: [], conversations: [] });
    const third = await world.another();
    const get = (path: string) => ({ path });
    await Promise.all([
      world.race(one, get('/v1/a'), 30),
      world.race(other, get('/v1/a'), 12),
      world.ask(other, get('/v1/b'), third),
      // Refused, and so no use.
      world.ask(one, get('/v2'), third),
    ]);
    // What a broker has left is sent when it ends; the others send every 5 s.
    await third.close();
    await until('all are counted', async () => (await uses(credential)).body.uses >= 43, 15_000);
    const { body } = await uses(credential);
    expect(body.uses).toBe(43);
    expect(body.places).toEqual([{ place: `${HOST}:${world.origin.port} /v1/**`, uses: 43 }]);
    expect(body.conversations.map(({ id, uses: count }) => [id, count])).toEqual([
      [one.conversation, 30],
      [other.conversation, 13],
    ]);
    await world.remove(ada, credential);
  });

  it('adversary: a batch that is repeated, late, or of another organization’s conversation counts once or not', async () => {
    const credential = await world.credential(ada, {});
    const { conversation } = await world.sandbox(ada);
    const eve = await world.app.user('Eve');
    const theirs = (await world.sandbox(eve)).conversation;
    const batch = {
      org: ada.orgId,
      source: randomUUID(),
      seq: 2,
      rows: [row(conversation, credential), row(theirs, credential)],
    };
    await Promise.all([world.internal('tallies', batch), world.internal('tallies', batch)]);
    await world.internal('tallies', { ...batch, seq: 1 });
    await world.internal('tallies', {
      ...batch,
      seq: 3,
      rows: [row(conversation, credential, { day: DAY - 91 }), row('of-no-conversation', credential)],
    });
    expect((await uses(credential)).body.uses).toBe(1);
    expect((await uses(credential, eve)).status).toBe(404);
    await world.app.owner.query('UPDATE app.credential_tally SET day = day - 91');
    expect((await uses(credential)).body.uses).toBe(0);
    await world.internal('tallies', { ...batch, seq: 4, rows: [row(conversation, credential)] });
    const { rows } = await world.app.owner.query(
      'SELECT uses::int FROM app.credential_tally WHERE conversation_id = $1',
      [conversation],
    );
    expect(rows).toEqual([{ uses: 1 }]);
    await world.remove(ada, credential);
  });

  it('adversary: whoever may not see credentials does not see their uses', async () => {
    const credential = await world.credential(ada, {});
    const viewer = await world.app.user('Val');
    await world.app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'viewer')", [
      ada.orgId,
      viewer.userId,
    ]);
    expect((await uses(credential, viewer)).status).toBe(403);
    await world.remove(ada, credential);
  });
});
