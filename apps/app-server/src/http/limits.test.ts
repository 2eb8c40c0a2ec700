import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '@slipway/telemetry';
import { createMetrics } from '@slipway/telemetry/http';
import { type RedisServer, startRedisServer, stopwatch, until } from '@slipway/testing';
import { skipTest } from '@slipway/testing/jest';
import type { FastifyReply } from 'fastify';
import type { Config } from '../config.js';
import { Limits } from './limits.js';
import { networkOf } from './network-of.js';

const READ = { method: 'GET' } as const;
const WRITE = { method: 'POST' } as const;

function limits(more: Partial<Config> = {}): Limits {
  const config = {
    RATE_READS_PER_MINUTE: 5,
    RATE_WRITES_PER_MINUTE: 3,
    RATE_STARTS_PER_MINUTE: 2,
    RATE_ORG_MULTIPLE: 2,
    RATE_ANONYMOUS_PER_MINUTE: 4,
    ...more,
  };
  return new Limits(config as Config, createLogger('test', 'silent'), createMetrics('test'));
}

/** Rate limit headers of an answer, or the code that it was refused with. */
async function taken(take: (reply: FastifyReply) => Promise<void>): Promise<string> {
  const headers = new Map<string, string>();
  const reply = {
    getHeader: (name: string) => headers.get(name),
    header: (name: string, value: string) => void headers.set(name, value),
  };
  return take(reply as unknown as FastifyReply).then(
    () => headers.get('ratelimit') ?? '',
    (error: { code?: string; more?: { retryAfterSeconds?: number } }) =>
      `${error.code} ${(error.more?.retryAfterSeconds ?? 0) > 0}`,
  );
}
const times = async (count: number, take: (reply: FastifyReply) => Promise<void>): Promise<number> => {
  const answers = await Promise.all(Array.from({ length: count }, () => taken(take)));
  return answers.filter((answer) => !answer.startsWith('rate.limited true')).length;
};

describe('Limits', () => {
  it('lets exactly as many through, whatever else the caller does and whoever else calls', async () => {
    const all = limits();
    expect(await times(20, (reply) => all.takeOfCaller(READ, 'key_1', reply))).toBe(5);
    expect(await times(20, (reply) => all.takeOfCaller(WRITE, 'key_1', reply))).toBe(3);
    expect(await times(20, (reply) => all.takeOfCaller({ ...WRITE, limit: 'starts' }, 'key_1', reply))).toBe(2);
    expect(await times(20, (reply) => all.takeOfCaller(READ, 'key_2', reply))).toBe(5);
  });

  it('holds an organization to its own limit, so that more keys are no way around', async () => {
    const all = limits();
    const passed = await Promise.all(
      Array.from({ length: 10 }, (_, key) =>
        times(3, (reply) =>
          all.takeOfCaller(READ, `key_${key}`, reply).then(() => all.takeOfOrg(READ, 'org_1', reply)),
        ),
      ),
    );
    expect(passed.reduce((sum, count) => sum + count, 0)).toBe(10);
  });

  it('takes the addresses of one network of IPv6 for one caller', async () => {
    const all = limits();
    const hosts = Array.from({ length: 20 }, (_, host) => `2001:db8::${host + 1}`).values();
    expect(await times(20, (reply) => all.takeOfAddress(hosts.next().value ?? '', reply))).toBe(4);
    expect(await times(1, (reply) => all.takeOfAddress('2001:db8:0:1::1', reply))).toBe(1);
    expect(['::ffff:10.0.0.1', '10.0.0.1', 'fe80::1%eth0', '2001:db8:0:1:2:3:4:5', '::1'].map(networkOf)).toEqual([
      '10.0.0.1',
      '10.0.0.1',
      'fe80:0:0:0::/64',
      '2001:db8:0:1::/64',
      '0:0:0:0::/64',
    ]);
  });

  describe('with Redis', () => {
    let redis: RedisServer | null;
    beforeAll(async () => {
      redis = await startRedisServer();
    });
    afterAll(() => redis?.stop());

    it('replicas count together; while Redis is away each counts by itself, without a wait', async () => {
      if (redis === null) return skipTest('this machine has no redis-server');
      const [one, two] = [limits({ REDIS_URL: redis.url }), limits({ REDIS_URL: redis.url })];
      try {
        // Connected when what one has counted is seen by the other.
        let who = 0;
        await until('both to count in Redis', async () => {
          who += 1;
          await taken((reply) => one.takeOfCaller(READ, `probe_${who}`, reply));
          return (await taken((reply) => two.takeOfCaller(READ, `probe_${who}`, reply))).includes('r=3');
        });
        const both = await Promise.all(
          [one, two].map((each) => times(10, (reply) => each.takeOfCaller(READ, 'key_1', reply))),
        );
        expect(both.reduce((sum, count) => sum + count, 0)).toBe(5);
        await redis.kill();
        const passed = stopwatch();
        expect(await times(10, (reply) => one.takeOfCaller(READ, 'key_1', reply))).toBe(5);
        expect(passed()).toBeLessThan(2_000);
      } finally {
        await Promise.all([one.onApplicationShutdown(), two.onApplicationShutdown()]);
      }
    });
  });
});
