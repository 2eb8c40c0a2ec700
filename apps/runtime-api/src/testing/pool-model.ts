/**
 * Walks of the model: steps chosen by a seed, invariants after each of them, then recovery without further faults. The
 * same seed is the same walk.
 */
import { type Action, actionsOf } from './pool-model-actions.js';
import type { ModelReplica } from './pool-model-messages.js';
import { ModelViolation } from './pool-model-observer.js';
import { ModelReaper } from './pool-model-reaper.js';
import type { Broken } from './pool-model-variants.js';
import { ModelWorld, REPLICAS } from './pool-model-world.js';

export interface Walk {
  readonly seed: number;
  readonly steps: number;
  readonly broken?: Broken;
  /** The database may fall back to a standby that lags: what was acknowledged last is lost (I15). */
  readonly isLossy?: boolean;
  /** Receives the name of each step. */
  readonly trace?: (step: string) => void;
}

/** Longest recovery. Rounds of every loop, each with one unit of the model's time. */
const RECOVERY_ROUNDS = 80;

export interface Walked {
  /** Of its recovery. */
  readonly rounds: number;
  /** How often what came about, by name. */
  readonly reached: ReadonlyMap<string, number>;
}

/** @throws ModelViolation */
export function walk({ seed, steps, broken = null, isLossy = false, trace }: Walk): Walked {
  const random = numbers(seed);
  const world = new ModelWorld(broken, isLossy);
  const reapers = [new ModelReaper(world), new ModelReaper(world)];
  const { usual, faults } = actionsOf(world, reapers, random, isLossy);
  // Some days are calm: what takes many steps to come about must have the time.
  const calm = [200, 40, 12][random(3)] as number;
  for (let done = 0; done < steps; ) {
    const kind = random(calm) === 0 ? faults : usual;
    const { name, run } = kind[random(kind.length)] as Action;
    if (!run()) continue;
    done += 1;
    trace?.(name);
    world.observer.check();
  }
  trace?.('recovery');
  return { rounds: recover(world, reapers), reached: world.reached };
}

/** I10, I12: without further faults everything is as it must be after some rounds, and every client has its answer. */
function recover(world: ModelWorld, reapers: readonly ModelReaper[]): number {
  const { database, cluster, network, replicas, observer, outcomes } = world;
  cluster.away = false;
  cluster.cordoned.clear();
  for (const replica of replicas) if (!replica.up) world.restart(replica);
  const asked = new Set([...outcomes.keys()]);
  outcomes.clear();
  let problem: string | null = null;
  for (let round = 1; round <= RECOVERY_ROUNDS; round += 1) {
    database.now += 1;
    world.loops.seeNodes();
    world.loops.plan();
    for (const slot of [...database.rows.slots.values()])
      world.loops.create(slot, slot.id % 2) ||
        world.loops.makeReady(slot) ||
        world.loops.checkWarm(slot) ||
        world.loops.remove(slot);
    for (const pod of [...cluster.pods.values()]) if (pod.phase === 'pending') cluster.move(pod, 'running');
    world.loops.sendLabels();
    for (const event of cluster.events.splice(0)) world.loops.watchDelivers(event);
    for (const slot of [...database.rows.slots.values()]) world.loops.believeWatch(slot);
    if (round % 8 === 0) world.loops.relist();
    for (let step = 0; step < 4; step += 1) for (const reaper of reapers) reaper.advance();
    replicas.forEach((replica, index) => {
      world.renew(replica);
      if (replica.requests.some((request) => request.phase === 'queued') && replica.stock.size === 0)
        world.lease(index, 2);
      while (world.pick(replica));
      while (world.ask(replica));
      world.flush(index);
      // What waited for a message that was lost.
      if (round === 1) for (const request of [...replica.requests]) world.timeOut(index, request);
    });
    [...asked].forEach((key, index) => {
      const [org = '0', session = '0', body = '0'] = key.split('/');
      const replica = replicas[index % REPLICAS] as ModelReplica;
      const outcome = outcomes.get(key);
      const waits = replicas.some((each) =>
        each.requests.some((request) => `${request.session}/${request.body}` === key),
      );
      if ((outcome === undefined || outcome === 'failed') && !waits)
        world.request(replica, Number(org), Number(session), Number(body));
    });
    for (let message = network.shift(); message !== undefined; message = network.shift()) world.deliver(message);
    observer.check();
    const waiting = [...asked].find((key) => outcomes.get(key) === undefined || outcomes.get(key) === 'failed');
    problem = waiting === undefined ? observer.unsettled() : `${waiting} has no answer`;
    if (problem === null) return round;
  }
  throw new ModelViolation('I12', `after ${RECOVERY_ROUNDS} rounds ${problem}`);
}

/** Whole numbers below a bound, from a seed of 32 bits. */
function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
