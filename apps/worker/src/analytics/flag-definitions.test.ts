import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readDefinitions } from '@slipway/analytics/flags';
import { createLogger } from '@slipway/telemetry';
import { FlagReader } from './flag-definitions.js';
import { AnalyticsWorld } from './testing/analytics-world.js';

describe('the reader of flags', () => {
  let world: AnalyticsWorld;
  beforeAll(async () => {
    world = await AnalyticsWorld.open();
  });
  afterAll(() => world?.close());
  const reader = (): FlagReader =>
    new FlagReader(
      { host: world.posthog.url, key: world.posthog.key, flagsKey: 'phs_test' },
      { pool: world.pool, locks: { tryLock: async () => null }, logger: createLogger('test', 'silent') },
    );
  const keys = async (): Promise<string[] | null> =>
    (await readDefinitions(world.pool))?.definitions.flags.map(({ key }) => key) ?? null;

  it('keeps the last definitions through refusals, quota and restarts, and says how old they are', async () => {
    expect(await keys()).toBeNull();
    world.posthog.definitions = { ...world.posthog.definitions, flags: [{ key: 'example-tasks' }] };
    await reader().run();
    expect(await keys()).toEqual(['example-tasks']);
    await world.owner.query(`UPDATE app.flag_definitions SET fetched_at = now() - interval '1 day'`);
    for (const answer of [402, 500, 'reset'] as const) {
      world.posthog.answers = [answer];
      await reader().run();
    }
    const age = async (): Promise<number> =>
      Date.now() - ((await readDefinitions(world.pool))?.fetchedAt.getTime() ?? 0);
    expect([await keys(), (await age()) > 80_000_000]).toEqual([['example-tasks'], true]);
    world.posthog.answers = [200];
    await reader().run();
    expect([world.posthog.requests.at(-1), (await age()) < 3_600_000]).toEqual(['/flags/definitions 200', true]);
  });

  it('asks less often while it is refused', async () => {
    world.posthog.clear();
    world.posthog.answers = [401];
    const one = reader();
    for (let round = 0; round < 60; round += 1) await one.run();
    expect(world.posthog.requests.length).toBe(4);
  });
});
