import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { PosthogServer } from '@slipway/testing';
import { FlagDefinitions } from '../flags/definitions.js';
import { Flags } from '../flags/flags.js';
import { StaticFlags } from '../flags/static-provider.js';
import { fetchDefinitions } from './fetch-definitions.js';
import { PosthogFlags } from './posthog-flags.js';

const SECRET = 'a-secret-for-pseudonyms-of-at-least-32-characters';
let domains = 0;

/** Half of all users get `cards`, decided by their pseudonym. */
const HALF = {
  id: 1,
  key: 'example-tasks',
  active: true,
  version: 1,
  filters: {
    groups: [{ properties: [], rollout_percentage: 100 }],
    multivariate: {
      variants: [
        { key: 'buttons', rollout_percentage: 50 },
        { key: 'cards', rollout_percentage: 50 },
      ],
    },
    payloads: {},
  },
};
const definitions = (...flags: object[]): FlagDefinitions =>
  FlagDefinitions.parse({ flags, group_type_mapping: { '0': 'organization' }, cohorts: {} });

jest.setTimeout(120_000);

describe('flags', () => {
  let posthog: PosthogServer;
  const providers: PosthogFlags[] = [];
  beforeAll(async () => {
    posthog = await PosthogServer.start();
  });
  afterAll(async () => {
    for (const provider of providers) await provider.onClose();
    await posthog?.close();
  });
  beforeEach(() => posthog.clear());

  /** A replica. */
  async function replica(read: () => Promise<FlagDefinitions | null>, everyMs = 60_000): Promise<Flags> {
    domains += 1;
    const flags = new Flags(`test ${domains}`, SECRET);
    const provider = new PosthogFlags(read, everyMs);
    providers.push(provider);
    await flags.use(provider);
    return flags;
  }
  const valuesOf = async (flags: Flags, users: number): Promise<string[]> =>
    Promise.all(
      Array.from(
        { length: users },
        async (_, index) => (await flags.valuesFor(`usr_${index}`, 'org'))['example-tasks'],
      ),
    );

  it('have their default before there is a provider, and where it has no such flag or an unknown value', async () => {
    domains += 1;
    const flags = new Flags(`test ${domains}`, undefined);
    expect(await flags.valuesFor('usr', 'org')).toEqual({ 'example-tasks': 'buttons' });
    await flags.use(new StaticFlags({}));
    expect(await flags.valuesFor('usr', 'org')).toEqual({ 'example-tasks': 'buttons' });
    await flags.use(new StaticFlags({ 'example-tasks': 'sometimes' }));
    expect(await flags.valuesFor('usr', 'org')).toEqual({ 'example-tasks': 'buttons' });
    await flags.use(new StaticFlags({ 'example-tasks': 'cards' }));
    expect(await flags.valuesFor('usr', 'org')).toEqual({ 'example-tasks': 'cards' });
  });

  it('of PostHog give a user the same value in every replica and after a restart, and make no request', async () => {
    const [one, other] = [await replica(async () => definitions(HALF)), await replica(async () => definitions(HALF))];
    const values = await valuesOf(one, 200);
    expect(new Set(values)).toEqual(new Set(['buttons', 'cards']));
    expect(values.filter((value) => value === 'cards').length).toBeGreaterThan(60);
    expect(await valuesOf(other, 200)).toEqual(values);
    expect(posthog.connections).toBe(0);
  });

  it('of PostHog that are plain switches, or for one organization, are the second value or the default', async () => {
    const plain = { ...HALF, filters: { groups: [{ properties: [], rollout_percentage: 100 }] } };
    expect(await valuesOf(await replica(async () => definitions(plain)), 1)).toEqual(['cards']);
    expect(await valuesOf(await replica(async () => definitions({ ...plain, active: false })), 1)).toEqual(['buttons']);
    const none = {
      ...plain,
      filters: { groups: [{ properties: [], rollout_percentage: 0 }], aggregation_group_type_index: 0 },
    };
    expect(await valuesOf(await replica(async () => definitions(none)), 1)).toEqual(['buttons']);
  });

  it('hold on while definitions cannot be read, and without any have their default and no delay', async () => {
    let isAway = false;
    const plain = { ...HALF, filters: { groups: [{ properties: [], rollout_percentage: 100 }] } };
    let reads = 0;
    const flags = await replica(async () => {
      reads += 1;
      if (isAway) throw new Error('away');
      return definitions(plain);
    }, 20);
    isAway = true;
    const before = reads;
    while (reads < before + 3) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await valuesOf(flags, 1)).toEqual(['cards']);
    expect(await valuesOf(await replica(async () => Promise.reject(new Error('away'))), 1)).toEqual(['buttons']);
  });

  it('are read from PostHog with their ETag; a quota that is used up, an error or nonsense is no answer', async () => {
    const source = { host: posthog.url, key: posthog.key, flagsKey: 'phs_test' };
    posthog.definitions = { ...posthog.definitions, flags: [HALF] };
    const first = await fetchDefinitions(source, null);
    expect(first).toMatchObject({ kind: 'changed', definitions: { flags: [{ key: 'example-tasks' }] } });
    expect(await fetchDefinitions(source, first.kind === 'changed' ? first.etag : null)).toEqual({ kind: 'unchanged' });
    for (const status of [401, 402, 403, 429, 500] as const) {
      posthog.answers = [status];
      expect(await fetchDefinitions(source, null)).toEqual({ kind: 'failed', reason: String(status) });
    }
    posthog.answers = ['reset'];
    expect(await fetchDefinitions(source, null)).toEqual({ kind: 'failed', reason: 'network' });
    posthog.answers = [200];
    posthog.definitions = { flags: 'none' } as never;
    expect(await fetchDefinitions(source, null)).toEqual({ kind: 'failed', reason: 'answer' });
  });

  it('are evaluated in well under a millisecond', async () => {
    const flags = await replica(async () => definitions(HALF));
    await valuesOf(flags, 500);
    const times: number[] = [];
    for (let index = 0; index < 2_000; index += 1) {
      const began = performance.now();
      await flags.valuesFor(`usr_${index}`, 'org');
      times.push(performance.now() - began);
    }
    times.sort((a, b) => a - b);
    console.log(`p50 ${(times[1_000] as number).toFixed(4)} ms, p99 ${(times[1_980] as number).toFixed(4)} ms`);
    expect(posthog.connections).toBe(0);
  });
});
