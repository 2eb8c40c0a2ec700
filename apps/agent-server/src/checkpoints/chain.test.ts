import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CapturedCheckpoint } from '@slipway/contracts/agent';
import { CheckpointChain } from './chain.js';

const NONE = { count: 0, named: [] };

describe('the chain of checkpoints that are not durable yet', () => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'slipway-chain-'));
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  const captured = (): CapturedCheckpoint => ({
    id: randomUUID(),
    reason: 'rest',
    after: randomUUID(),
    root: 'a'.repeat(64),
    contentHash: 'a'.repeat(64),
    files: 1,
    bytes: 1,
    newBytes: 1,
    complete: true,
    deferred: NONE,
    skipped: NONE,
    torn: NONE,
    takenAt: new Date(0).toISOString(),
  });
  const add = async (chain: CheckpointChain, follows = true): Promise<string> => {
    const made = captured();
    await writeFile(await chain.draftOf(made.id), 'objects');
    await chain.add(made, 7, follows);
    return made.id;
  };
  const filesOf = async (directory: string): Promise<string[]> =>
    (await readdir(directory)).filter((name) => name.endsWith('.objects')).sort();

  it('loses no capture that comes while a transfer says what is durable, and gives up no file that it names', async () => {
    for (let round = 0; round < 20; round += 1) {
      const directory = path.join(root, String(round));
      const chain = await CheckpointChain.open(directory);
      const first = await add(chain, false);
      const [second, , third] = await Promise.all([add(chain), chain.settle(first), add(chain)]);
      const known = await CheckpointChain.open(directory);
      expect(known.base).toBe(first);
      expect(known.staged.map(({ captured: { id } }) => id).sort()).toEqual([second, third].sort());
      expect(known.staged).toEqual(chain.staged);
      expect(await filesOf(directory)).toEqual([second, third].map((id) => `${id}.objects`).sort());
    }
  });

  it('begins anew with a capture of everything, a restored checkpoint, or a damaged note', async () => {
    const directory = path.join(root, 'anew');
    const chain = await CheckpointChain.open(directory);
    await add(chain, false);
    await add(chain);
    const whole = await add(chain, false);
    expect([chain.base, await filesOf(directory)]).toEqual([null, [`${whole}.objects`]]);
    expect(await chain.settle(randomUUID())).toBe(false);
    const restored = randomUUID();
    await chain.restart({ id: restored, root: 'b'.repeat(64) });
    expect([chain.base, chain.last?.root, await filesOf(directory)]).toEqual([restored, 'b'.repeat(64), []]);
    await writeFile(path.join(directory, 'chain.json'), '{"base":');
    expect((await CheckpointChain.open(directory)).last).toBeNull();
  });
});
