import { describe, expect, it } from '@jest/globals';
import { chooserOf, type PackFlaw, PackModel } from '../testing/pack-model.js';

/** Steps of one life of the model; then it begins anew, since its contents are used up. */
const LIFE = 300;
/** Of the rules as they are; PACK_MODEL_STEPS for more. */
const STEPS = Number(process.env['PACK_MODEL_STEPS'] ?? 3_000_000);
/** Within which each flaw is found. */
const FLAWED_STEPS = 10_000_000;

const FLAWS: readonly PackFlaw[][] = [
  ['no-grace-for-doomed'],
  ['no-grace-for-objects'],
  ['no-bound-for-transfers'],
  ['no-revive'],
  ['no-recheck'],
  ['late-without-own-pack', 'no-deleting-mark'],
  ['swap-in-two-commits'],
];

/** @returns the seed of the first life that broke something, and what. */
function explore(flaws: readonly PackFlaw[], steps: number): { seed: number; broken: string } | null {
  for (let seed = 0; seed * LIFE < steps; seed += 1) {
    const model = new PackModel(chooserOf(seed), flaws);
    for (let step = 0; step < LIFE; step += 1) {
      const broken = model.step();
      if (broken !== null) return { seed, broken };
    }
    if (flaws.length === 0 && !model.settled()) return { seed, broken: 'the store is not what is referred to' };
  }
  return null;
}

describe('packs under commits, packing anew, readers and the collector in any order', () => {
  it('hold every content of every durable checkpoint at every step, and nothing else after the grace', () => {
    expect(explore([], STEPS)).toBeNull();
  });

  it('need no bound for a transfer without a pack of its own, as long as claimed packs are marked', () => {
    let broken: string | null = null;
    for (let seed = 0; broken === null && seed * LIFE < STEPS; seed += 1) {
      const model = new PackModel(chooserOf(seed), ['late-without-own-pack']);
      for (let step = 0; broken === null && step < LIFE; step += 1) broken = model.step();
    }
    expect(broken).toBeNull();
  });

  it.each(FLAWS.map((flaws) => [flaws.join(' and '), flaws] as const))('lose something with %s', (_name, flaws) => {
    expect(explore(flaws, FLAWED_STEPS)).not.toBeNull();
  });
});
