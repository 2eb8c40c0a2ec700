import { describe, expect, it } from '@jest/globals';
import { walk } from './pool-model.js';
import { ModelViolation } from './pool-model-observer.js';
import { BROKEN_VARIANTS, type Broken } from './pool-model-variants.js';
import { ModelWorld } from './pool-model-world.js';

const STEPS = 500;
/** Walks in which nothing acknowledged is lost: two million steps. */
const WALKS = 4_000;
const LOSSY_WALKS = 4_000;
/** Walks after which a broken variant counts as not found. */
const HUNT = 20_000;

/** Which invariant each broken variant breaks. Several, where it depends on the walk which is seen first. */
const BREAKS: Readonly<Record<NonNullable<Broken>, readonly string[]>> = {
  'no-epoch-in-bind': ['I6'],
  'no-holder-in-bind': ['I6'],
  'no-lease-time-in-bind': ['I6'],
  'bind-ignores-state': ['I1', 'I3'],
  'batch-sees-no-twin': ['I3'],
  'body-not-compared': ['I4'],
  'quota-counted-once': ['I9'],
  'answer-before-commit': ['I14'],
  'activated-before-bind': ['I14'],
  'pod-accepts-two': ['I2'],
  're-pooled': ['I5', 'I8'],
  'freed-by-time': ['I11'],
  'ended-without-receipt': ['I11'],
  'rows-after-list': ['I11'],
  'orphans-by-old-rows': ['I7'],
  'delete-without-uid': ['I7'],
  'delete-any-state': ['I7', 'I12'],
  hoarded: ['I12'],
  'population-from-cache': ['I8'],
  'cordon-leaves-leased': ['I13'],
  'watch-without-versions': ['I17'],
  'label-without-uid': ['I18'],
};

/** What broke first, with the last steps of the walk. */
function violationOf(seed: number, broken: Broken, isLossy: boolean): ModelViolation | null {
  try {
    walk({ seed, steps: STEPS, broken, isLossy });
    return null;
  } catch (error) {
    if (error instanceof ModelViolation) return error;
    throw error;
  }
}

function mustHold(seed: number, isLossy: boolean): ReturnType<typeof walk> {
  try {
    return walk({ seed, steps: STEPS, isLossy });
  } catch (error) {
    const steps: string[] = [];
    expect(() => walk({ seed, steps: STEPS, isLossy, trace: (step) => steps.push(step) })).toThrow(Error);
    throw new Error(`seed ${seed}${isLossy ? ', lossy' : ''}, step ${steps.length}: … ${steps.slice(-12).join(', ')}`, {
      cause: error,
    });
  }
}

describe('the model of the pool', () => {
  it('keeps I1 to I9, I11 to I14, I17 and I18 in 2,000,000 steps with crashes, lapsed leases, lost, late and repeated messages, and serves all afterwards (I10)', () => {
    const reached = new Map<string, number>();
    for (let seed = 1; seed <= WALKS; seed += 1)
      for (const [what, times] of mustHold(seed, false).reached) reached.set(what, (reached.get(what) ?? 0) + times);
    // The walks come to what they are about.
    for (const what of ['bind bound', 'bind replay', 'bind mismatch', 'bind quota', 'bind empty', 'bind slot-lost'])
      expect([what, (reached.get(what) ?? 0) > 1_000]).toEqual([what, true]);
    for (const what of ['activation accepted', 'activation unanswered', 'answered active', 'answered failed'])
      expect([what, (reached.get(what) ?? 0) > 500]).toEqual([what, true]);
  });

  it('lets no sandbox serve two claims although the database loses what it has acknowledged (I15), and repairs itself', () => {
    let refused = 0;
    for (let seed = 1; seed <= LOSSY_WALKS; seed += 1)
      refused += mustHold(seed, true).reached.get('activation refused') ?? 0;
    expect(refused).toBeGreaterThan(50);
  });

  it('answers claims while the API server is away and leased slots last, and asks it for nothing before the answer (I16)', () => {
    const world = new ModelWorld(null, false);
    const settle = (): void => {
      for (let message = world.network.shift(); message !== undefined; message = world.network.shift())
        world.deliver(message);
    };
    world.loops.plan();
    for (const slot of [...world.database.rows.slots.values()]) world.loops.create(slot, 0);
    settle();
    for (const pod of world.cluster.pods.values()) world.cluster.move(pod, 'running');
    for (const slot of [...world.database.rows.slots.values()]) world.loops.makeReady(slot);
    world.cluster.away = true;
    const changes = world.cluster.version;
    world.replicas.forEach((replica, index) => {
      world.lease(index, 1);
      settle();
      world.request(replica, index % 2, index, 0);
      expect(world.pick(replica)).toBe(true);
      world.flush(index);
      settle();
    });
    expect([...world.outcomes.values()]).toEqual(['active', 'active', 'active']);
    expect(world.cluster.version).toBe(changes);
    expect(world.database.rows.outbox.size).toBe(3);
    world.observer.check();
  });

  for (const [name, what] of Object.entries(BROKEN_VARIANTS) as [NonNullable<Broken>, string][])
    it(`sees it when ${what}`, () => {
      for (let seed = 1; seed <= HUNT; seed += 1) {
        const violation = violationOf(seed, name, seed % 4 === 0);
        if (violation === null) continue;
        expect(BREAKS[name]).toContain(violation.invariant);
        return;
      }
      throw new Error(`no walk of ${HUNT} broke anything`);
    });
});
