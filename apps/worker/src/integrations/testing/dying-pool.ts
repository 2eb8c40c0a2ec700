import type { PoolClient, SqlPool } from '@slipway/db/sql';

/**
 * A process that is killed before its statement number `dies`: that statement and all after it never reach the
 * database, and its connection ends with the transaction in it.
 */
export function dyingPool(pool: SqlPool, dies: number): SqlPool {
  let left = dies;
  const mortal = (client: PoolClient): PoolClient =>
    new Proxy(client, {
      get: (target, name) => {
        if (name === 'query')
          return (...statement: Parameters<PoolClient['query']>): unknown => {
            left -= 1;
            return left < 0 ? Promise.reject(new Error('killed')) : target.query(...statement);
          };
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? (value as (...given: unknown[]) => unknown).bind(target) : value;
      },
    });
  return new Proxy(pool, {
    get: (target, name) => {
      if (name === 'connect') return async () => mortal(await target.connect());
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value as (...given: unknown[]) => unknown).bind(target) : value;
    },
  });
}
