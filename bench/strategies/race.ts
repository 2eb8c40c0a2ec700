// One strategy under load: three replicas and two processes of load, a burst after the other on slots that are refilled
// in between.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { cpuMs } from '../measure/process-usage.ts';
import { quick } from '../measure/quick.ts';
import type { Loaded, Order } from './load.ts';
import type { RaceStock } from './stock/race-stock.ts';

export const REPLICAS = quick(3, 1);
export const LOADERS = quick(2, 1);
/** Connections of one replica, whichever strategy. */
export const CONNECTIONS = 12;
export const PER_SECOND = 100;
const CALM = quick(300, 10);
/** The first burst pays for what is compiled and connected once. */
const BURSTS = quick(6, 1);
/** A slow strategy runs fewer bursts. Milliseconds of claiming. */
const LONGEST_MS = 8_000;

/**
 * `atOnce`: claims under way over all replicas, each followed by the next as soon as it is answered. A fifth of the
 * slots is always left, as in a pool that is refilled.
 */
export interface RaceLoad {
  readonly atOnce: number;
  readonly stock: number;
  readonly claims: number;
}

export interface RaceResult {
  /** Claims a second of each burst. */
  readonly rates: number[];
  /** Milliseconds, while saturated. */
  readonly latencies: number[];
  /** The same at `PER_SECOND` claims a second. */
  readonly calm: number[];
  /** CPU of the replicas and of what they claim from, over all bursts that count. Milliseconds. */
  readonly cpu: number;
}

export interface Raced {
  readonly strategy: string;
  readonly load: RaceLoad;
  readonly stock: RaceStock;
  readonly owner: pg.Client;
  readonly redisPort: number | null;
  readonly kubeconfig: string | null;
}

/** @throws Error when a claim failed, a slot was given out twice, or one that was answered is not bound. */
export async function race({ strategy, load, stock, owner, redisPort, kubeconfig }: Raced): Promise<RaceResult> {
  const replicas: ChildProcess[] = [];
  const loaders: ChildProcess[] = [];
  const rates: number[] = [];
  const latencies: number[] = [];
  try {
    await stock.empty();
    await stock.fill(load.stock);
    const ports: number[] = [];
    for (let replica = 0; replica < REPLICAS; replica += 1) {
      const given = {
        strategy,
        databaseUrl: stock.databaseUrl,
        connections: CONNECTIONS,
        replica,
        replicas: REPLICAS,
        redisPort,
        kubeconfig,
      };
      const child = startChild('replica.ts', given);
      replicas.push(child);
      ports.push(((await next(child)) as { port: number }).port);
    }
    for (let index = 0; index < LOADERS; index += 1) {
      const child = startChild('load.ts', ports);
      loaders.push(child);
      await next(child);
    }
    let spent = 0;
    let cpu = 0;
    for (let burst = 0; burst <= BURSTS && spent < LONGEST_MS; burst += 1) {
      await stock.fill(load.stock);
      await wait(150);
      const cpuBefore = await cpuOf(owner, stock, replicas);
      const began = performance.now();
      const loaded = await Promise.all(
        loaders.map((loader, index) =>
          ask(loader, {
            kind: 'closed',
            prefix: `${strategy}-${burst}-${index}`,
            claims: load.claims / LOADERS,
            atOnce: load.atOnce / LOADERS,
          }),
        ),
      );
      const elapsed = performance.now() - began;
      const used = (await cpuOf(owner, stock, replicas)) - cpuBefore;
      await mustBeSound(stock, strategy, loaded);
      if (burst === 0) continue;
      cpu += used;
      spent += elapsed;
      rates.push((load.claims * 1_000) / elapsed);
      for (const each of loaded) latencies.push(...each.latencies);
    }
    await stock.fill(load.stock);
    await wait(150);
    const calm = await ask(loaders[0] as ChildProcess, {
      kind: 'open',
      prefix: `${strategy}-calm`,
      claims: CALM,
      perSecond: PER_SECOND,
    });
    await mustBeSound(stock, strategy, [calm]);
    return { rates, latencies, calm: calm.latencies, cpu };
  } finally {
    await Promise.all([...loaders, ...replicas].map(end));
  }
}

async function cpuOf(owner: pg.Client, stock: RaceStock, replicas: readonly ChildProcess[]): Promise<number> {
  const { rows } = await owner.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'race-%'`,
  );
  const all = await Promise.all([...replicas.map((child) => child.pid ?? 0), ...rows.map((row) => row.pid)].map(cpuMs));
  return all.reduce((sum, each) => sum + each, stock.serverCpuMs());
}

/** Every answer is a slot of its own and matches the store. @throws Error */
async function mustBeSound(stock: RaceStock, strategy: string, loaded: readonly Loaded[]): Promise<void> {
  const slots = loaded.flatMap((each) => each.slots);
  const failed = loaded.reduce((sum, each) => sum + each.failed, 0);
  if (failed > 0) throw new Error(`${strategy}: ${failed} claims failed`);
  if (new Set(slots).size !== slots.length) throw new Error(`${strategy}: a slot was given out twice`);
  const bound = await stock.countBound(slots);
  if (bound !== slots.length) throw new Error(`${strategy}: ${slots.length} slots were answered, ${bound} are bound`);
}

function startChild(file: string, given: unknown): ChildProcess {
  const child = fork(fileURLToPath(new URL(`./${file}`, import.meta.url)), [JSON.stringify(given)], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const atExit = (): void => void child.kill('SIGKILL');
  process.once('exit', atExit);
  child.once('exit', () => process.off('exit', atExit));
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function ask(child: ChildProcess, order: Order): Promise<Loaded> {
  const answer = next(child);
  child.send(order);
  return (await answer) as Loaded;
}

/** @throws Error when the process ends before it says something. */
async function next(child: ChildProcess): Promise<unknown> {
  const stop = new AbortController();
  try {
    const ended = once(child, 'exit', { signal: stop.signal }).then(([code]) => {
      throw new Error(`a process of the bench ended with ${code}`);
    });
    return await Promise.race([
      once(child, 'message', { signal: stop.signal }).then(([message]) => message as unknown),
      ended,
    ]);
  } finally {
    stop.abort();
  }
}
