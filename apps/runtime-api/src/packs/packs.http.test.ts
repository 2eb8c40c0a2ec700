import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openPackStore, type PackStore } from '@slipway/sandbox/packs';
import { startTestRuntimeApi, type TestRuntimeApi, testPool } from '../testing/start-runtime-api.js';

describe('packs', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-packs-http-'));
  const signal = AbortSignal.timeout(60_000);
  let api: TestRuntimeApi;
  let store: PackStore;
  beforeAll(async () => {
    store = await openPackStore(pathToFileURL(folder));
    api = await startTestRuntimeApi({ pools: [testPool(0)], packs: store });
  });
  afterAll(async () => {
    await api?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const put = async (orgId: string): Promise<string> => {
    const packId = randomBytes(16).toString('hex');
    await store.put({ orgId, packId }, Readable.from([Buffer.from('12345')]), signal);
    return packId;
  };

  it('are listed for every organization in order, and from behind one', async () => {
    const packs = [await put('org_b'), await put('org_a'), await put('org_b')];
    const { body, status } = await api.call('GET', '/packs');
    expect(status).toBe(200);
    const own = [packs[0], packs[2]].sort();
    expect(body.packs).toEqual([
      { org_id: 'org_a', pack_id: packs[1], bytes: 5, stored_at: expect.stringMatching(/Z$/) },
      { org_id: 'org_b', pack_id: own[0], bytes: 5, stored_at: expect.any(String) },
      { org_id: 'org_b', pack_id: own[1], bytes: 5, stored_at: expect.any(String) },
    ]);
    const rest = await api.call('GET', `/packs?after_org=org_b&after_pack=${own[0]}`);
    expect(rest.body.packs.map(({ pack_id }: { pack_id: string }) => pack_id)).toEqual([own[1]]);
  });

  it('are deleted of the organization of the header alone, any number of times', async () => {
    const [mine, theirs] = [await put('org_c'), await put('org_d')];
    for (let time = 0; time < 2; time += 1)
      expect(
        await api.call('POST', '/packs/delete', { packs: [mine, theirs] }, { 'x-slipway-org': 'org_c' }),
      ).toMatchObject({ status: 200, body: { deleted: 2 } });
    expect(await store.get({ orgId: 'org_c', packId: mine }, null, signal)).toBeNull();
    expect(await store.get({ orgId: 'org_d', packId: theirs }, { start: 0, length: 1 }, signal)).not.toBeNull();
  });

  it('are for the service key only, and for ids that are some', async () => {
    expect((await api.call('GET', '/packs', undefined, { 'x-api-key': 'wrong' })).status).toBe(401);
    expect((await api.call('POST', '/packs/delete', { packs: [] }, { 'x-api-key': 'wrong' })).status).toBe(401);
    for (const id of ['../x', '0'.repeat(31), 'A'.repeat(32)])
      expect((await api.call('POST', '/packs/delete', { packs: [id] })).status).toBe(400);
  });
});
