import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** The part of a pool of Postgres connections that the metrics read. */
export interface WatchedPool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  // biome-ignore lint/suspicious/noExplicitAny: its overloads, with a callback and without, are taken as they come.
  connect(...args: any[]): any;
  addListener(event: string, listener: () => void): unknown;
}

/** Connections of this process to Postgres, by pool: how many, who waits, for how long, and what Postgres refused. */
export class PoolMetrics {
  private readonly pools = new Map<string, WatchedPool>();
  private readonly seconds: Histogram<'pool'>;
  private readonly denied: Counter<'pool'>;

  constructor(registry: Registry) {
    const registers = [registry];
    const { pools } = this;
    new Gauge({
      name: 'db_pool_connections',
      help: 'Connections to Postgres; state is busy or idle',
      labelNames: ['pool', 'state'],
      registers,
      collect() {
        for (const [pool, { totalCount, idleCount }] of pools) {
          this.set({ pool, state: 'busy' }, totalCount - idleCount);
          this.set({ pool, state: 'idle' }, idleCount);
        }
      },
    });
    new Gauge({
      name: 'db_pool_waiting',
      help: 'Requests waiting for a connection to Postgres',
      labelNames: ['pool'],
      registers,
      collect() {
        for (const [pool, { waitingCount }] of pools) this.set({ pool }, waitingCount);
      },
    });
    this.seconds = new Histogram({
      name: 'db_pool_wait_seconds',
      help: 'Time until a connection to Postgres was available or the wait ended',
      labelNames: ['pool'],
      buckets: [0.0001, 0.001, 0.005, 0.025, 0.1, 0.5, 1, 5],
      registers,
    });
    this.denied = new Counter({
      name: 'db_denied_total',
      help: "Statements refused by Postgres for another organization's row or a missing grant. Must be 0",
      labelNames: ['pool'],
      registers,
    });
  }

  /** @param name of the pool in this process, out of a fixed few. Answers it. */
  watch<P extends WatchedPool>(name: string, pool: P): P {
    this.pools.set(name, pool);
    this.denied.inc({ pool: name }, 0);
    pool.addListener('denied', () => this.denied.inc({ pool: name }));
    const connect = pool.connect.bind(pool);
    const { seconds } = this;
    pool.connect = (callback?: (...args: unknown[]) => void): unknown => {
      const asked = performance.now();
      const note = (): void => seconds.observe({ pool: name }, (performance.now() - asked) / 1000);
      if (callback !== undefined) {
        return connect((...args: unknown[]) => {
          note();
          callback(...args);
        });
      }
      const client = connect() as Promise<unknown>;
      client.then(note, note);
      return client;
    };
    return pool;
  }
}
