import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { stopwatch } from '@slipway/testing';
import { missingForBuiltCluster } from '@slipway/testing/cluster';
import { describeUnless } from '@slipway/testing/jest';
import { failuresOf, Load } from './faults-load.ts';
import type { Replica } from './faults-replica.ts';
import { FaultWorld } from './faults-world.ts';

const POOL_SIZE = 48;
/** How long a replica is stopped. Seconds; longer than its leases last. */
const STOPPED_SECONDS = 20;
/** Longest that a replica may take to end by itself. Milliseconds; Kubernetes gives 30 s. */
const GRACE_MS = 12_000;
const missing = await missingForBuiltCluster();

describeUnless(missing)('what goes on when replicas of runtime-api do not', () => {
  let world: FaultWorld;
  beforeAll(async () => {
    world = await FaultWorld.open({
      kwokNodes: 2,
      realNode: false,
      replicas: 3,
      templates: (place) => [place.fakeTemplate('fake', POOL_SIZE)],
    });
  });
  afterAll(() => world?.close());

  const others = (but: Replica): Load => {
    const living = world.replicas.filter((replica) => replica !== but);
    let turn = 0;
    return world.adopt(
      new Load(
        () => {
          turn += 1;
          return (living[turn % living.length] as Replica).url;
        },
        world.place.apiKey,
        `beside-${but.name}`,
      ),
    );
  };

  it('answers all claims while replicas are killed one after another, and gives nothing twice', async () => {
    let over = false;
    let kills = 0;
    const killing = (async () => {
      while (!over) {
        // The one that keeps the pools as often as another.
        const victim =
          kills % 2 === 0 ? await world.leader() : (world.replicas[kills % world.replicas.length] as Replica);
        await victim.kill();
        kills += 1;
        await wait(300);
        await victim.start();
      }
    })();
    const outcomes = await world.load.run({ rate: 6, seconds: 11, holdMs: 1_000, retry: true }).finally(() => {
      over = true;
    });
    await killing;
    const seconds = await world.settles();
    console.log(`${outcomes.length} claims, ${kills} kills; nothing left over after ${seconds.toFixed(1)} s`);
    expect(failuresOf(outcomes)).toEqual([]);
    expect(kills).toBeGreaterThan(1);
  });

  it('goes on beside a leader that is stopped for 20 s, which does no harm when it continues', async () => {
    const leader = await world.leader();
    const own = world.adopt(new Load(() => leader.url, world.place.apiKey, 'of-the-stopped'));
    // These are on their way when it stops, and answered late or never.
    const caught = own.run({ rate: 20, seconds: 1 });
    await wait(600);
    leader.pause();
    const beside = others(leader);
    const outcomes = await beside.run({ rate: 1.5, seconds: STOPPED_SECONDS }).finally(() => leader.resume());
    expect(failuresOf(outcomes)).toEqual([]);
    await caught;
    // Whoever was not answered asks again, elsewhere and with the same session.
    const again = await Promise.all(
      own.sessions
        .filter(({ answer }) => answer === null)
        .map((session) => beside.start(session, performance.now(), true)),
    );
    expect(failuresOf(again)).toEqual([]);
    await world.ledger.holds();
    await Promise.all([own.stopAll(), beside.stopAll()]);
    const seconds = await world.settles();
    console.log(
      `${again.length} of ${own.sessions.length} callers of the stopped one asked again; nothing left over after ${seconds.toFixed(1)} s`,
    );
  });

  it('gives one sandbox to fifty requests for the same session over three replicas, of which one is killed', async () => {
    const session = world.load.newSession();
    const victim = world.replicas[1] as Replica;
    const asked = Array.from({ length: 50 }, () => world.load.start(session, performance.now(), true));
    const urls = asked.map(async (outcome) => {
      expect(failuresOf([await outcome])).toEqual([]);
      return session.answer?.url;
    });
    await wait(5);
    await victim.kill();
    expect(new Set(await Promise.all(urls)).size).toBe(1);
    await victim.start();
    const { rows } = await world.place.owner.query('SELECT claim_id FROM runtime.claim WHERE session_id = $1', [
      session.id,
    ]);
    // A claim that died with its replica before it was answered may have gone before.
    expect(rows.length).toBeLessThanOrEqual(2);
    const receipts = (await world.place.receipts()).filter(
      ({ environment, gone }) => environment?.['SLIPWAY_OWNER'] === session.mark && !gone,
    );
    expect(receipts).toHaveLength(1);
    await world.load.stop(session);
    await world.settles();
  });

  it('ends on SIGTERM with its requests answered, and callers hear nothing of it', async () => {
    const load = world.newLoad('rolling');
    const claims = load.run({ rate: 8, seconds: 6, retry: true });
    await wait(1_000);
    for (const replica of world.replicas) {
      const passed = stopwatch();
      expect(await replica.end('SIGTERM')).toBe(0);
      expect(passed()).toBeLessThan(GRACE_MS);
      await replica.start();
    }
    expect(failuresOf(await claims)).toEqual([]);
    await world.ledger.holds();
    await load.stopAll();
    await world.settles();
  });
});
