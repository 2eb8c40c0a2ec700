/** What may happen next in the model. */
import type { ModelPod } from './pool-model-cluster.js';
import type { ModelSlot } from './pool-model-database.js';
import type { Message, ModelReplica } from './pool-model-messages.js';
import type { ModelReaper } from './pool-model-reaper.js';
import { KEYS, type ModelWorld, ORGS, REPLICAS } from './pool-model-world.js';

export interface Action {
  readonly name: string;
  /** False: it cannot happen now, and nothing has. */
  readonly run: () => boolean;
}

const MOST_REQUESTS = 5;

export interface Actions {
  /** What a pool does all day; each as often as its weight says. */
  readonly usual: readonly Action[];
  /** What goes wrong. */
  readonly faults: readonly Action[];
}

export function actionsOf(
  world: ModelWorld,
  reapers: readonly ModelReaper[],
  random: (below: number) => number,
  isLossy: boolean,
): Actions {
  const { database, cluster, network, replicas } = world;
  const usual: Action[] = [];
  const faults: Action[] = [];
  const late: Message[] = [];
  const act = (weight: number, name: string, run: () => boolean): void => {
    for (let index = 0; index < weight; index += 1) usual.push({ name, run });
  };
  const fault = (weight: number, name: string, run: () => boolean): void => {
    for (let index = 0; index < weight; index += 1) faults.push({ name, run });
  };
  const done = (run: () => unknown): true => {
    run();
    return true;
  };
  const one = <T>(from: readonly T[]): T | undefined => from[random(Math.max(1, from.length))];
  const take = <T>(from: T[]): T | undefined =>
    from.length === 0 ? undefined : from.splice(random(from.length), 1)[0];
  const nth = <T>(values: Iterable<T>, size: number): T | undefined => {
    let left = random(Math.max(1, size));
    for (const value of values) {
      if (left === 0) return value;
      left -= 1;
    }
    return undefined;
  };
  const replica = (): ModelReplica => replicas[random(REPLICAS)] as ModelReplica;
  const slot = (weight: number, name: string, run: (slot: ModelSlot) => boolean): void =>
    act(weight, name, () => {
      const found = nth(database.rows.slots.values(), database.rows.slots.size);
      return found !== undefined && run(found);
    });
  const pod = (run: (pod: ModelPod) => boolean): boolean => {
    const found = nth(cluster.pods.values(), cluster.pods.size);
    return found !== undefined && run(found);
  };
  const message = (from: (messages: Message[]) => Message | undefined, run: (message: Message) => unknown): boolean => {
    const found = from(network);
    return found !== undefined && done(() => run(found));
  };
  const node = (): number => {
    const free = [0, 1].filter((each) => !cluster.cordoned.has(each));
    return one(free) ?? random(2);
  };

  act(3, 'time passes', () => done(() => (database.now += 1 + random(2))));

  // Clients.
  act(6, 'a client asks', () => {
    const at = replica();
    return (
      at.up &&
      at.requests.length < MOST_REQUESTS &&
      done(() => world.request(at, random(ORGS), random(KEYS), random(8) === 0 ? 1 : 0))
    );
  });
  act(2, 'a client asks again', () => {
    const waiting = one(replica().requests);
    const at = replica();
    return (
      waiting !== undefined && at.up && at.requests.length < MOST_REQUESTS && done(() => world.repeat(at, waiting))
    );
  });
  act(2, 'a client stops its session', () => world.stop(`${random(ORGS)}/${random(KEYS)}`));

  // Replicas.
  act(8, 'a request picks a slot', () => world.pick(replica()));
  act(1, 'a request asks without a slot', () => world.ask(replica()));
  act(5, 'a batch is sent', () => world.flush(random(REPLICAS)));
  act(4, 'a replica leases', () => {
    const index = random(REPLICAS);
    return (replicas[index] as ModelReplica).up && done(() => world.lease(index, 1 + random(3)));
  });
  act(3, 'a replica renews', () => {
    const at = replica();
    return at.stock.size > 0 && done(() => world.renew(at));
  });
  fault(2, 'a request waits no longer', () => {
    const index = random(REPLICAS);
    const request = one((replicas[index] as ModelReplica).requests);
    return (
      request !== undefined &&
      request.phase !== 'queued' &&
      request.phase !== 'picked' &&
      done(() => world.timeOut(index, request))
    );
  });
  fault(1, 'a replica is killed', () => {
    const at = replica();
    return at.up && done(() => world.crash(at));
  });
  act(4, 'a replica starts', () => {
    const at = replica();
    return !at.up && done(() => world.restart(at));
  });

  // The network.
  act(36, 'a message arrives', () => message(take, (found) => world.deliver(found)));
  fault(2, 'a message arrives, and will again', () => message(one, (found) => world.deliver(found)));
  fault(2, 'a message is lost', () => take(network) !== undefined);
  fault(1, 'a message is held up', () => message(take, (found) => late.push(found)));
  fault(1, 'a message arrives, and will again much later', () =>
    message(one, (found) => {
      late.push(found);
      world.deliver(found);
    }),
  );
  act(1, 'a message that was held up arrives', () => {
    const found = take(late);
    return found !== undefined && done(() => world.deliver(found));
  });

  // The pool.
  act(3, 'missing slots are planned', () => world.loops.plan());
  slot(6, 'a sandbox is made', (found) => world.loops.create(found, node()));
  act(6, 'a pod runs', () => pod((found) => found.phase === 'pending' && done(() => cluster.move(found, 'running'))));
  slot(6, 'a sandbox is looked at', (found) => world.loops.makeReady(found));
  slot(2, 'a warm sandbox is looked at', (found) => world.loops.checkWarm(found));
  slot(2, 'what the watch says is believed', (found) => world.loops.believeWatch(found));
  slot(5, 'a slot is removed', (found) => world.loops.remove(found));
  act(2, 'labels are sent', () => world.loops.sendLabels());
  act(6, 'a reaper goes on', () => (one(reapers) as ModelReaper).advance());

  // The cluster.
  const deliver = (from: typeof take | typeof one): boolean => {
    const event = from(cluster.events);
    return event !== undefined && done(() => world.loops.watchDelivers(event));
  };
  act(4, 'the watch tells', () => deliver(take));
  fault(1, 'the watch tells, and will again', () => deliver(one));
  fault(1, 'the watch loses an event', () => take(cluster.events) !== undefined);
  act(1, 'the watch lists again', () => !cluster.away && done(() => world.loops.relist()));
  fault(1, 'a pod ends', () =>
    pod((found) => found.phase !== 'ended' && done(() => world.loops.podEnds(found, 'stays'))),
  );
  fault(1, 'a pod is collected', () => pod((found) => done(() => world.loops.podEnds(found, 'goes'))));
  fault(1, 'a node is cordoned', () => done(() => cluster.cordoned.add(random(2))));
  act(2, 'a node is uncordoned', () => cluster.cordoned.delete(random(2)));
  act(2, 'nodes are seen', () => done(() => world.loops.seeNodes()));
  fault(1, 'the API goes away', () => !cluster.away && done(() => (cluster.away = true)));
  act(4, 'the API is back', () => cluster.away && done(() => (cluster.away = false)));

  fault(1, 'a slot is doomed', () => {
    const found = nth(database.rows.slots.values(), database.rows.slots.size);
    return found?.state === 'ready' && done(() => database.doom(found.id));
  });

  // The database.
  fault(1, 'the database crashes', () => done(() => database.crash()));
  if (isLossy) {
    act(3, 'the standby catches up', () => done(() => database.replicate()));
    fault(1, 'the standby takes over', () => done(() => database.failOver()));
  }
  // The unread backlog of the watch is bounded, as in a real one.
  act(1, 'the watch forgets', () => cluster.events.length > 20 && done(() => cluster.events.splice(0, 10)));
  return { usual, faults };
}
