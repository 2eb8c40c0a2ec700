import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { MonitorSchema } from '../../tools/dashboards/datadog-schema.ts';
import { FakeDatadog } from './fake-datadog.ts';
import { queriedNames } from './metrics-page.ts';

const FOLDER = path.resolve(import.meta.dirname, '../../helm/slipway/files/datadog');
const KEYS = { api: 'api-key-0123456789abcdef', app: 'app-key-0123456789abcdef' };
const read = (kind: string): { name: string; text: string }[] =>
  readdirSync(path.join(FOLDER, kind)).map((name) => ({
    name,
    text: readFileSync(path.join(FOLDER, kind, name), 'utf8'),
  }));
const files = (['dashboards', 'monitors', 'slos'] as const).flatMap(read);
const COUNTS = { dashboard: read('dashboards').length, monitor: read('monitors').length, slo: read('slos').length };

describe("Datadog's files", () => {
  it('use no metric of ours that the apps do not have', () => {
    // As the agent's check names them: counters without `_total`, and `.count`, `.sum` behind a dot.
    const known = new Set([...queriedNames()].map((name) => name.replace(/_(total|count|sum)$/, '')));
    const used = files.flatMap(({ name, text }) =>
      [...text.matchAll(/[: (]slipway\.([a-z_0-9]+)(?:\.(?:count|sum))?\{/g)].map(([, metric = '']) => ({
        name,
        metric,
      })),
    );
    expect(used.filter(({ metric }) => !known.has(metric))).toEqual([]);
    expect(new Set(used.map(({ metric }) => metric)).size).toBeGreaterThan(30);
  });

  it('refuse a monitor whose threshold is not the number of its query, and a field that Datadog does not have', () => {
    const monitor = JSON.parse(readFileSync(path.join(FOLDER, 'monitors/SlipwayClaimsSlow.json'), 'utf8')) as {
      options: object;
    };
    expect(MonitorSchema.safeParse(monitor).success).toBe(true);
    expect(
      MonitorSchema.safeParse({ ...monitor, options: { ...monitor.options, thresholds: { critical: 2 } } }).success,
    ).toBe(false);
    expect(MonitorSchema.safeParse({ ...monitor, silenced: {} }).success).toBe(false);
  });
});

jest.setTimeout(120_000);

describe('apply.mjs', () => {
  let datadog: FakeDatadog;
  beforeEach(async () => {
    datadog = await FakeDatadog.open(KEYS);
  });
  afterEach(() => datadog.close());

  const apply = (
    args: readonly string[] = [],
    env: Record<string, string> = {},
  ): Promise<{ code: number; said: string }> =>
    new Promise((resolve) => {
      const given = {
        PATH: process.env['PATH'],
        DD_API_URL: datadog.url,
        DD_API_KEY: KEYS.api,
        DD_APP_KEY: KEYS.app,
        ...env,
      };
      execFile(
        process.execPath,
        [path.join(FOLDER, 'apply.mjs'), ...args],
        { env: given, timeout: 60_000 },
        (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code ?? 1), said: stdout + stderr }),
      );
    });
  const counts = () => ({
    dashboard: datadog.stored.dashboard.length,
    monitor: datadog.stored.monitor.length,
    slo: datadog.stored.slo.length,
  });

  it('makes all of it once; a second run changes what is there, and nothing of anybody else', async () => {
    const foreign = { id: 'theirs', title: 'Theirs', description: 'slipway:overview is what we look at' };
    datadog.stored.dashboard.push({ ...foreign });
    expect(await apply([], { RUNBOOK_BASE_URL: 'https://git.example.com/slipway/' })).toMatchObject({ code: 0 });
    expect(counts()).toEqual({ ...COUNTS, dashboard: COUNTS.dashboard + 1 });
    expect(
      datadog.stored.monitor.every(({ message }) =>
        String(message).includes('https://git.example.com/slipway/docs/operate/alerts.md#'),
      ),
    ).toBe(true);
    const ids = JSON.stringify(Object.values(datadog.stored).map((all) => all.map(({ id }) => id)));
    datadog.writes.length = 0;
    expect(await apply()).toMatchObject({ code: 0 });
    expect(datadog.writes.filter((write) => write.startsWith('POST'))).toEqual([]);
    expect(JSON.stringify(Object.values(datadog.stored).map((all) => all.map(({ id }) => id)))).toBe(ids);
    expect(datadog.stored.dashboard[0]).toEqual(foreign);
  });

  it('writes nothing with --dry-run, and nothing without keys or with wrong ones, and prints no key', async () => {
    const dry = await apply(['--dry-run']);
    expect(dry).toMatchObject({ code: 0, said: expect.stringContaining('would have made dashboard overview') });
    const without = await apply([], { DD_APP_KEY: '' });
    const wrong = await apply([], { DD_API_KEY: 'wrong-key-0123456789' });
    expect([without.code, wrong.code]).toEqual([1, 1]);
    expect(wrong.said).toContain('403');
    expect(datadog.writes).toEqual([]);
    expect([dry, without, wrong].map(({ said }) => said).join()).not.toMatch(/-key-0123456789/);
  });

  it('asks again when there were too many requests, and not for what may have been made', async () => {
    datadog.failures.push(
      { method: 'GET', status: 429 },
      { method: 'GET', status: 503 },
      { method: 'POST', status: 429 },
    );
    expect(await apply()).toMatchObject({ code: 0 });
    expect(counts()).toEqual(COUNTS);
    datadog.stored.monitor.length = 0;
    datadog.failures.push({ method: 'POST', status: 502 });
    expect(await apply()).toMatchObject({ code: 1, said: expect.stringContaining('502') });
    expect(datadog.stored.monitor).toEqual([]);
  });

  it('stops where two carry the same mark', async () => {
    await apply();
    datadog.stored.monitor.push({ ...datadog.stored.monitor[0], id: 4711 });
    expect(await apply()).toMatchObject({ code: 1, said: expect.stringContaining('2 in Datadog have slipway:') });
  });
});
