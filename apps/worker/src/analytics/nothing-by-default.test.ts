import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AnalyticsWorld, SECRET } from './testing/analytics-world.js';

/**
 * A process of its own that starts what worker starts, lets it run for a moment, and prints which packages it has read.
 */
const PROGRAM = `
import { registerHooks } from 'node:module';
const read = [];
registerHooks({ resolve: (specifier, context, next) => { const found = next(specifier, context); if (/posthog|start-analytics/.test(found.url)) read.push(found.url); return found; } });
const { maybeAnalytics } = await import(process.env.MODULE);
const { createPool } = await import('@slipway/db/sql');
const pool = createPool({ url: process.env.DATABASE_URL, max: 2, applicationName: 'test', onError: () => {} });
const logger = { warn() {}, info() {}, debug() {}, error() {} };
const parts = { pool, logger, locks: { tryLock: async () => ({ signal: new AbortController().signal, release: async () => {} }) }, metrics: { count() {} } };
const started = await maybeAnalytics(JSON.parse(process.env.CONFIG), { ...parts, clock: { now: () => new Date() }, gateway: null });
await started?.close();
await pool.end();
console.log(JSON.stringify({ started: started !== null, read: read.length }));
`;

jest.setTimeout(120_000);

describe('an installation that does not allow analytics', () => {
  let world: AnalyticsWorld;
  beforeAll(async () => {
    world = await AnalyticsWorld.open();
  });
  afterAll(() => world?.close());
  beforeEach(() => world.posthog.clear());

  async function start(config: object): Promise<{ started: boolean; read: number }> {
    const env = {
      DATABASE_URL: world.database.urls.app,
      MODULE: new URL('./maybe-analytics.js', import.meta.url).href,
      CONFIG: JSON.stringify(config),
    };
    const folder = fileURLToPath(new URL('../..', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAM], {
      env,
      cwd: folder,
    });
    return JSON.parse(stdout) as { started: boolean; read: number };
  }
  const whole = (): object => ({
    POSTHOG_HOST: world.posthog.url,
    POSTHOG_KEY: world.posthog.key,
    ANALYTICS_SECRET: SECRET,
    DO_NOT_TRACK: false,
    FLAGS_PROVIDER: 'static',
  });

  it('reads no package of PostHog, makes no connection, and deletes what waited', async () => {
    const { org, user } = await world.signUp();
    for (const without of [
      { POSTHOG_KEY: undefined },
      { POSTHOG_HOST: undefined },
      { ANALYTICS_SECRET: undefined },
      { DO_NOT_TRACK: true },
    ]) {
      await world.owner.query(
        `INSERT INTO app.analytics_event (id, org_id, user_id, name, at, properties) VALUES (gen_random_uuid(), $1, $2, 'member_joined', now(), '{}')`,
        [org, user],
      );
      expect(await start({ ...whole(), ...without })).toEqual({ started: false, read: 0 });
      expect([await world.waiting(), world.posthog.connections]).toEqual([[], 0]);
    }
  });

  it('differs from one that does, which reads the package', async () => {
    const { started, read } = await start(whole());
    expect([started, read > 0]).toEqual([true, true]);
  });
});
