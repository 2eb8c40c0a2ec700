import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { inOrg } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { createLogger } from '@slipway/telemetry';
import { type Harness, ORG, openHarness } from '../testing/harness.js';
import { Room } from './room.js';

const AT_LIMIT = 'The organization runs 3 of 3 sandboxes, which is its limit.';

describe('room for starts that wait', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await openHarness();
  });
  afterAll(() => harness.close());
  beforeEach(async () => {
    harness.peers.refuseStart = null;
    await inOrg(harness.pool, ORG, async (client) => {
      await client.query('DELETE FROM app.outbox');
      await client.query(`UPDATE app.conversation SET desired = 'rest', sandbox_status = 'PAUSED'`);
    });
  });

  const withSandbox = async (
    execution: 'finished' | 'running' | 'waiting_for_confirmation',
    idleSeconds: number,
  ): Promise<string> => {
    const { id } = await harness.create();
    await harness.start(id);
    await harness.execution(id, execution);
    await inOrg(harness.pool, ORG, (client) =>
      client.query(`UPDATE app.inbox_message SET state = 'consumed' WHERE conversation_id = $1`, [id]),
    );
    await harness.age(id, idleSeconds);
    return id;
  };
  const waits = async (): Promise<string> => {
    harness.peers.refuseStart = {
      status: 409,
      code: 'sandbox.quota',
      detail: AT_LIMIT,
      extensions: { position: 1, estimateSeconds: null, reason: AT_LIMIT },
    };
    const { id } = await harness.create();
    await harness.start(id);
    return id;
  };
  const resting = async (ids: readonly string[]): Promise<boolean[]> =>
    Promise.all(ids.map(async (id) => (await harness.row(id)).desired === 'rest'));

  it('is made at the limit of the organization: the longest idle of the finished is paused, and the start says so', async () => {
    const all = [
      await withSandbox('finished', 20),
      await withSandbox('finished', 600),
      await withSandbox('running', 900),
    ];
    const eleventh = await waits();
    expect(await resting(all)).toEqual([false, true, false]);
    expect(await harness.jobs(all[1] as string)).toEqual(['conversation-pause']);
    expect((await harness.row(eleventh)).steps.at(-1)).toMatchObject({
      status: 'WAITING_FOR_SANDBOX',
      detail: `Next in the queue for a sandbox, a few seconds. ${AT_LIMIT} A finished conversation is being paused to make room.`,
      queue: { place: 1, estimateSeconds: 5, cause: 'organization-limit' },
    });
    // Asked again while that one is on its way to its pause.
    await harness.start(eleventh);
    expect(await resting(all)).toEqual([false, true, false]);
    await harness.rest(all[1] as string);
    harness.peers.refuseStart = null;
    await harness.start(eleventh);
    expect((await harness.row(eleventh)).startStatus).toBe('READY');
  });

  it('is made for each that waits, however many ask at once, and no sandbox more', async () => {
    const finished = await Promise.all([30, 40, 50, 60].map((seconds) => withSandbox('finished', seconds)));
    const waiting = [await waits(), await waits()];
    const room = new Room(harness.pool, harness.queue, createIds(systemClock), createLogger('room-test', 'silent'));
    await Promise.all([...waiting, ...waiting].map(() => room.make(ORG)));
    expect(await resting(finished)).toEqual([false, false, true, true]);
  });

  it('is not made of one at work, one that asks for an answer, one in which a user types, one just finished, or one with a message', async () => {
    const kept = [
      await withSandbox('running', 600),
      await withSandbox('waiting_for_confirmation', 600),
      await withSandbox('finished', 600),
    ];
    kept.push(await withSandbox('finished', 1), await withSandbox('finished', 600));
    const typing = harness.peers.sessions.get(kept[2] as string);
    if (typing === undefined) throw new Error('it has no session');
    typing.userIdleSeconds = 10;
    await harness.send(kept[4] as string, 'more');
    const eleventh = await waits();
    expect(await resting(kept)).toEqual([false, false, false, false, false]);
    expect((await harness.row(eleventh)).steps.at(-1)).toMatchObject({
      detail: `Next in the queue for a sandbox. ${AT_LIMIT}`,
      queue: { place: 1, estimateSeconds: null, cause: 'organization-limit' },
    });
  });
});
