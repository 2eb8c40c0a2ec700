import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SlipwayError } from '@slipway/errors';
import { FarmBackend, SandboxFarm } from '@slipway/sandbox/testing';
import { until } from '@slipway/testing';
import pg from 'pg';
import { startTestRuntimeApi, type TestRuntimeApi } from '../testing/start-runtime-api.js';

/** What its sandboxes are made of changes while it is used, as it does with an address that they are given. */
class ChangingBackend extends FarmBackend {
  made: string | null = null;
  override templateOf(): string {
    if (this.made === null) throw new SlipwayError('sandbox.cluster-unavailable', 'an address is not known yet');
    return this.made;
  }
}

describe('a replica that leads, when what sandboxes are made of changes', () => {
  let api: TestRuntimeApi;
  let owner: pg.Client;
  let farm: SandboxFarm;
  let backend: ChangingBackend;
  beforeAll(async () => {
    const keys = generateKeyPairSync('ed25519');
    farm = await new SandboxFarm(keys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')).start();
    backend = new ChangingBackend(farm.url, 'farm', farm);
    api = await startTestRuntimeApi({ backend, activationKey: keys.privateKey });
    owner = new pg.Client({ connectionString: api.database.ownerUrl });
    await owner.connect();
  });
  afterAll(async () => {
    await owner?.end();
    await api?.close();
    await farm?.close();
  });
  /** Blank sandboxes that may be given out, by id. */
  const ready = async (): Promise<string[]> =>
    (
      await owner.query<{ slot: string }>(`SELECT slot_id AS slot FROM runtime.slot WHERE state = 'ready' ORDER BY 1`)
    ).rows.map(({ slot }) => slot);

  it('makes none until that is known, then fills its pool, and replaces every blank one that was made before a change', async () => {
    await until('it leads', async () => (await api.call('GET', '/ready')).status === 200);
    expect(await ready()).toEqual([]);
    backend.made = 'with 10.96.0.7';
    const first = await until('the pool is full', async () => ((await ready()).length === 2 ? ready() : null));
    backend.made = 'with 10.96.0.8';
    const second = await until('all were replaced', async () => {
      const now = await ready();
      return now.length === 2 && !now.some((slot) => first.includes(slot)) ? now : null;
    });
    expect(second.length).toBe(2);
  });
});
