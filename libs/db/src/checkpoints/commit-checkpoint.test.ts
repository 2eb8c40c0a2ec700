import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CheckpointWorld, eventId, newCheckpoint, newPack } from '../testing/checkpoint-world.js';
import { claimPacks, commitCheckpoint, doomPacks, dropCheckpoint, finishPacks, inheritCheckpoint } from './index.js';

describe('commit_checkpoint', () => {
  let world: CheckpointWorld;
  beforeAll(async () => {
    world = await CheckpointWorld.open();
  });
  afterAll(() => world?.close());

  it('stores a checkpoint at its event with the packs of its parent and its own', async () => {
    const org = await world.org();
    const conversation = await world.conversation(org);
    const [one, two] = [newPack(), newPack(250)];
    const first = newCheckpoint(conversation);
    expect(await commitCheckpoint(world.pool, org, { ...first, packs: [one] })).toEqual({ outcome: 'ok', seq: 1 });
    const second = { after: eventId(conversation, 3), parent: first.id, held: [one.id], packs: [two] };
    expect(await world.commit(org, conversation, second)).toEqual({ outcome: 'ok', seq: 3 });
    const { rows } = await world.owner.query<{ seq: string; packs: string[]; new_bytes: string }>(
      `SELECT k.seq, k.new_bytes, array_agg(r.pack_id ORDER BY r.pack_id) AS packs FROM app.checkpoint k JOIN app.checkpoint_pack r ON r.checkpoint_id = k.id
       WHERE k.org_id = $1 GROUP BY k.seq, k.new_bytes ORDER BY k.seq`,
      [org],
    );
    expect(rows).toEqual([
      { seq: '1', new_bytes: '100', packs: [one.id] },
      { seq: '3', new_bytes: '250', packs: [one.id, two.id].sort() },
    ]);
    expect(await world.usedBytes(org)).toEqual({ counted: 350, summed: 350 });
  });

  it('answers a repeated call as the first, also under a later epoch, and stores nothing twice', async () => {
    const org = await world.org();
    const conversation = await world.conversation(org);
    const checkpoint = newCheckpoint(conversation);
    for (let time = 0; time < 3; time += 1) {
      expect(await commitCheckpoint(world.pool, org, checkpoint)).toEqual({ outcome: 'ok', seq: 1 });
      await world.owner.query('UPDATE app.conversation SET epoch = epoch + 1 WHERE id = $1', [conversation]);
    }
    expect(await world.usedBytes(org)).toEqual({ counted: 100, summed: 100 });
  });

  it('refuses another epoch, an event that is not in the log, and a transfer of yesterday', async () => {
    const org = await world.org();
    const conversation = await world.conversation(org, 3, 2);
    expect((await world.commit(org, conversation, { epoch: 1 })).outcome).toBe('stale');
    expect((await world.commit(org, conversation, { epoch: 3 })).outcome).toBe('stale');
    expect((await world.commit(org, conversation, { epoch: 2, after: randomUUID() })).outcome).toBe('early');
    const begun = new Date(Date.now() - 24 * 3_600_000 - 60_000);
    expect(await world.commit(org, conversation, { epoch: 2, begun })).toEqual({ outcome: 'missing', packs: [] });
    expect((await world.commit(org, randomUUID(), {})).outcome).toBe('gone');
    expect(await world.packs(org)).toEqual([]);
  });

  it('refuses a parent that is later in the log, and one that is another conversation’s', async () => {
    const org = await world.org();
    const [mine, other] = [await world.conversation(org), await world.conversation(org)];
    const later = { ...newCheckpoint(mine), after: eventId(mine, 3) };
    const theirs = newCheckpoint(other);
    for (const [id, checkpoint] of [
      [mine, later],
      [other, theirs],
    ] as const)
      expect((await world.commit(org, id, checkpoint)).outcome).toBe('ok');
    for (const parent of [later.id, theirs.id])
      expect((await world.commit(org, mine, { parent })).outcome).toBe('conflict');
    expect(await world.commit(org, mine, { parent: randomUUID() })).toEqual({ outcome: 'missing', packs: [] });
  });

  it('refuses packs of another conversation or organization, known or guessed, and a new pack under a taken id', async () => {
    const [org, foreign] = [await world.org(), await world.org()];
    const [mine, other, theirs] = [
      await world.conversation(org),
      await world.conversation(org),
      await world.conversation(foreign),
    ];
    const [beside, outside] = [newPack(), newPack()];
    await world.commit(org, other, { packs: [beside] });
    await world.commit(foreign, theirs, { packs: [outside] });
    const guessed = randomBytes(16).toString('hex');
    for (const id of [beside.id, outside.id, guessed])
      expect(await world.commit(org, mine, { held: [id] })).toEqual({ outcome: 'missing', packs: [id] });
    for (const pack of [beside, outside])
      expect((await world.commit(org, mine, { packs: [pack] })).outcome).toBe('conflict');
    expect((await world.commit(org, theirs, {})).outcome).toBe('gone');
    expect((await world.packs(org)).length).toBe(1);
  });

  it('lets a fork use the packs of what it was forked from, and no later ones', async () => {
    const org = await world.org();
    const [source, fork] = [await world.conversation(org), await world.conversation(org)];
    const [early, late] = [newPack(), newPack()];
    const from = { ...newCheckpoint(source), packs: [early] };
    await world.commit(org, source, from);
    await world.commit(org, source, {
      parent: from.id,
      held: [early.id],
      packs: [late],
      after: eventId(source, 2),
    });
    const first = randomUUID();
    const inherit = () => inheritCheckpoint(world.pool, org, { source: from.id, conversationId: fork, id: first });
    expect(await inherit()).toBe('early');
    await world.owner.query(
      `DELETE FROM app.event WHERE conversation_id = $2; INSERT INTO app.event SELECT $2, seq, org_id, epoch, NULL, event_id, kind, event, created_at FROM app.event WHERE conversation_id = $1`
        .replaceAll('$1', `'${source}'`)
        .replaceAll('$2', `'${fork}'`),
    );
    expect([await inherit(), await inherit()]).toEqual(['ok', 'ok']);
    expect((await world.commit(org, fork, { after: eventId(source, 3), held: [early.id, late.id] })).outcome).toBe(
      'missing',
    );
    const next = { after: eventId(source, 3), parent: first, held: [early.id] };
    expect(await world.commit(org, fork, next)).toEqual({ outcome: 'ok', seq: 3 });
    expect(await dropCheckpoint(world.pool, org, source, from.id)).toBe('forked');
  });

  it('takes a doomed pack back, unless the sweep has claimed it', async () => {
    const org = await world.org();
    const conversation = await world.conversation(org);
    const [kept, lost] = [newPack(), newPack()];
    const checkpoint = { ...newCheckpoint(conversation), packs: [kept, lost] };
    await world.commit(org, conversation, checkpoint);
    expect(await dropCheckpoint(world.pool, org, conversation, checkpoint.id)).toBe('ok');
    expect(await doomPacks(world.pool, org, [kept.id, lost.id])).toBe(2);
    expect((await world.commit(org, conversation, { held: [kept.id] })).outcome).toBe('ok');
    expect(await claimPacks(world.pool, org, { graceSeconds: 0, limit: 10 })).toEqual([lost.id]);
    expect(await world.commit(org, conversation, { held: [kept.id, lost.id] })).toEqual({
      outcome: 'missing',
      packs: [lost.id],
    });
    expect(await finishPacks(world.pool, org, [kept.id, lost.id])).toBe(1);
    expect(await world.usedBytes(org)).toEqual({ counted: 200, summed: 200 });
    expect(await world.broken(org)).toEqual([]);
  });

  it('holds an organization to its quota, a conversation to a fifth, and lets pause and safety take a tenth more', async () => {
    const org = await world.org(2);
    const seatBytes = 500;
    const conversations = await Promise.all(Array.from({ length: 6 }, () => world.conversation(org)));
    const [first = ''] = conversations;
    const commit = async (id: string, bytes: number, reason: 'rest' | 'pause' = 'rest') => {
      const checkpoint = newCheckpoint(id);
      const about = { ...checkpoint.about, reason };
      return (await world.commit(org, id, { about, packs: [newPack(bytes)], seatBytes })).outcome;
    };
    expect(await commit(first, 201)).toBe('quota');
    expect(await commit(first, 200)).toBe('ok');
    expect([await commit(first, 1), await commit(first, 21, 'pause'), await commit(first, 20, 'pause')]).toEqual([
      'quota',
      'quota',
      'ok',
    ]);
    for (const id of conversations.slice(1, 4)) expect(await commit(id, 200)).toBe('ok');
    const [last = ''] = conversations.slice(4);
    expect(await commit(last, 181)).toBe('quota');
    expect(await commit(last, 180)).toBe('ok');
    expect(await commit(conversations[5] ?? '', 101, 'pause')).toBe('quota');
    expect(await commit(conversations[5] ?? '', 100, 'pause')).toBe('ok');
    // What brings nothing new is never refused.
    expect((await world.commit(org, first, { packs: [], seatBytes })).outcome).toBe('ok');
    expect(await world.usedBytes(org)).toEqual({ counted: 1_100, summed: 1_100 });
    await world.owner.query('UPDATE app.pack_storage SET limit_bytes = 100000 WHERE org_id = $1', [org]);
    expect(await commit(last, 1_000)).toBe('ok');
  });

  it('counts two conversations that commit at once against one quota', async () => {
    const org = await world.org();
    const conversations = await Promise.all(Array.from({ length: 8 }, () => world.conversation(org)));
    const answers = await Promise.all(
      conversations.map((id) => world.commit(org, id, { packs: [newPack(200)], seatBytes: 1_000 })),
    );
    expect(answers.filter(({ outcome }) => outcome === 'ok')).toHaveLength(5);
    expect(await world.usedBytes(org)).toEqual({ counted: 1_000, summed: 1_000 });
  });

  it('leaves no key that opens the packs of a deleted conversation, and those of its forks alone', async () => {
    const org = await world.org();
    const [source, fork] = [await world.conversation(org), await world.conversation(org)];
    const [shared, own, expired] = [newPack(), newPack(), newPack()];
    const old = { ...newCheckpoint(source), packs: [expired] };
    await world.commit(org, source, old);
    await dropCheckpoint(world.pool, org, source, old.id);
    await doomPacks(world.pool, org, [expired.id]);
    const from = { ...newCheckpoint(source), packs: [shared] };
    await world.commit(org, source, from);
    await world.commit(org, source, { parent: from.id, held: [shared.id], packs: [own], after: eventId(source, 2) });
    await world.owner.query('UPDATE app.event SET event_id = $3 WHERE conversation_id = $1 AND seq = $2', [
      fork,
      1,
      eventId(source, 1),
    ]);
    expect(await inheritCheckpoint(world.pool, org, { source: from.id, conversationId: fork, id: randomUUID() })).toBe(
      'ok',
    );
    await world.owner.query('SELECT app.delete_conversation($1, $2)', [org, source]);
    expect(await world.packs(org)).toEqual(
      [
        { id: shared.id, state: 'live', readable: true },
        { id: own.id, state: 'doomed', readable: false },
        { id: expired.id, state: 'doomed', readable: false },
      ].sort((one, two) => (one.id < two.id ? -1 : 1)),
    );
    // No grace: nothing could read them.
    expect([...(await claimPacks(world.pool, org, { graceSeconds: 86_400, limit: 10 }))].sort()).toEqual(
      [own.id, expired.id].sort(),
    );
  });
});
