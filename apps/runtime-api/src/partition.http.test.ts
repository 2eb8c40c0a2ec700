import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { SilentProxy, stopwatch, until } from '@slipway/testing';
import pg from 'pg';
import { startTestRuntimeApi } from './testing/start-runtime-api.js';

/** How long nothing comes through. Milliseconds. */
const SILENCE_MS = process.env['SLIPWAY_LONG'] === '1' ? 30_000 : 12_000;
/** After it everything works again within this. Milliseconds. */
const RECOVERY_MS = 5_000;
/** Longest that a caller waits while the database is silent. Milliseconds. */
const ANSWER_MS = 25_000;

jest.setTimeout(300_000);

describe('runtime-api without an answer of Postgres', () => {
  it('says so to each caller in time, gives no sandbox to two, and within 5 s of its end gives one to each', async () => {
    let proxy: SilentProxy | undefined;
    const api = await startTestRuntimeApi({ orgSandboxLimit: 50 }, async (url) => {
      proxy = await SilentProxy.open(url);
      return proxy.url;
    });
    const network = proxy as unknown as SilentProxy;
    const owner = new pg.Client({ connectionString: api.database.ownerUrl });
    try {
      await owner.connect();
      const start = (session: string): ReturnType<typeof api.call> =>
        api.call('POST', '/start', { session_id: session }, { prefer: 'wait=1' });
      await until('one is there', async () => (await start(`before-${randomUUID()}`)).status === 200);
      const sessions = Array.from({ length: 4 }, () => randomUUID());
      network.silence();
      const waited = stopwatch();
      const asked = sessions.map(async (session) => ({ ...(await start(session)), ms: waited() }));
      const ended = Promise.all(asked);
      await wait(SILENCE_MS);
      network.heal();
      const passed = stopwatch();
      const first = await until(
        'a session that asks again',
        async () => ((answer) => (answer.status === 200 ? answer.body : null))(await start(sessions[0] as string)),
        RECOVERY_MS,
      );
      expect(passed()).toBeLessThan(RECOVERY_MS);
      for (const { status, body, ms, headers } of await ended) {
        expect(ms).toBeLessThan(ANSWER_MS);
        if (status === 200) continue;
        // A sandbox that was being claimed may end by the silence too: the caller gets Retry-After anyway.
        expect([502, 503]).toContain(status);
        expect(body).toMatchObject({
          code: expect.stringMatching(/^(service\.unavailable|sandbox\.(no-capacity|start-failed))$/),
          detail: expect.stringMatching(/\w+ \w+/),
        });
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      }
      const urls = new Map<string, string>([[sessions[0] as string, first.url as string]]);
      for (const session of sessions)
        urls.set(
          session,
          await until(
            `a sandbox for ${session}`,
            async () =>
              ((answer) => (answer.status === 200 ? (answer.body.url as string) : null))(await start(session)),
            20_000,
          ),
        );
      expect(new Set(urls.values()).size).toBe(sessions.length);
      const { rows } = await owner.query(
        `SELECT session_id, count(*)::int AS claims FROM runtime.claim WHERE session_id = ANY ($1) AND ended_at IS NULL GROUP BY 1`,
        [sessions],
      );
      expect(rows.map(({ claims }) => claims)).toEqual(sessions.map(() => 1));
      expect(api.farm.history.filter((event) => event.kind === 'refused')).toEqual([]);
    } finally {
      network.heal();
      await owner.end();
      await api.close();
      await network.close();
    }
  });
});
