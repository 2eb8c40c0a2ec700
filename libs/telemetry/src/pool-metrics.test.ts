import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { PoolMetrics, Registry } from './http/index.js';

/** A pool with one connection, as pg's behaves: with a callback or a promise, first come first served. */
class OneConnection extends EventEmitter {
  readonly totalCount = 1;
  idleCount = 1;
  private readonly queue: Array<() => void> = [];

  get waitingCount(): number {
    return this.queue.length;
  }

  connect(callback?: (error: null, client: string) => void): Promise<string> | undefined {
    if (callback === undefined) return new Promise((resolve) => this.ask(() => resolve('client')));
    this.ask(() => callback(null, 'client'));
    return undefined;
  }

  private ask(give: () => void): void {
    if (this.idleCount === 0) this.queue.push(give);
    else {
      this.idleCount = 0;
      give();
    }
  }

  release(): void {
    const next = this.queue.shift();
    if (next === undefined) this.idleCount = 1;
    else next();
  }
}

describe('PoolMetrics', () => {
  it('says how many connections are busy, who waits, and how long each has waited, whichever way it was asked for', async () => {
    const registry = new Registry();
    const pool = new PoolMetrics(registry).watch('sql', new OneConnection());
    expect(await pool.connect()).toBe('client');
    const second = new Promise((resolve) => pool.connect((_error: null, client: string) => resolve(client)));
    const busy = await registry.metrics();
    expect(busy).toContain('db_pool_connections{pool="sql",state="busy"} 1');
    expect(busy).toContain('db_pool_waiting{pool="sql"} 1');
    expect(busy).toContain('db_pool_wait_seconds_count{pool="sql"} 1');
    pool.release();
    expect(await second).toBe('client');
    pool.release();
    const idle = await registry.metrics();
    expect(idle).toContain('db_pool_connections{pool="sql",state="idle"} 1');
    expect(idle).toContain('db_pool_waiting{pool="sql"} 0');
    expect(idle).toContain('db_pool_wait_seconds_count{pool="sql"} 2');
  });

  it('counts what Postgres refuses, and has a 0 before the first', async () => {
    const registry = new Registry();
    const pool = new PoolMetrics(registry).watch('sql', new OneConnection());
    expect(await registry.metrics()).toContain('db_denied_total{pool="sql"} 0');
    pool.emit('denied');
    expect(await registry.metrics()).toContain('db_denied_total{pool="sql"} 1');
  });
});
