import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { creationBackoffMs, mayRefill, slotsToCreate, slotsToRenew } from './pool-sizing.js';
import {
  nextSlotState,
  REMOVABLE_SLOT_STATES,
  SLOT_TRANSITIONS,
  type SlotState,
  type SlotTrigger,
} from './slot-lifecycle.js';

const states = Object.keys(SLOT_TRANSITIONS) as SlotState[];
const triggers = [...new Set(states.flatMap((state) => Object.keys(SLOT_TRANSITIONS[state])))] as SlotTrigger[];

describe('lifecycle of a slot', () => {
  it('never leads back to ready from a slot that was bound, whatever signals arrive', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...triggers)), (signals) => {
        let state: SlotState = 'bound';
        for (const signal of signals) {
          state = nextSlotState(state, signal) ?? state;
          expect(['bound', 'active', 'releasing', 'gone']).toContain(state);
        }
      }),
    );
  });

  it('ends from every state, and only by removal', () => {
    for (const state of states) {
      const steps: SlotTrigger[] = ['doomed', 'released', 'removed'];
      expect(steps.reduce<SlotState>((at, step) => nextSlotState(at, step) ?? at, state)).toBe('gone');
    }
    expect([...REMOVABLE_SLOT_STATES].sort()).toEqual(['doomed', 'releasing']);
  });
});

describe('the size of a pool', () => {
  it('never creates beyond the target', () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.nat(1000), (target, population) => {
        expect(population + slotsToCreate(target, population)).toBeLessThanOrEqual(Math.max(target, population));
      }),
    );
  });

  it('refills at once below half of the target, and above it only when no sandbox was taken for half a second', () => {
    const now = (target: number, ready: number): boolean[] =>
      [0, 499, 500].map((since) => mayRefill(target, ready, since));
    expect([now(10, 4), now(1, 0), now(2, 0)]).toEqual([
      [true, true, true],
      [true, true, true],
      [true, true, true],
    ]);
    expect([now(10, 5), now(10, 9), now(2, 1)]).toEqual([
      [false, false, true],
      [false, false, true],
      [false, false, true],
    ]);
  });

  it('leaves half of the warm slots when it renews aged ones', () => {
    expect([slotsToRenew(4, 4), slotsToRenew(1, 9), slotsToRenew(1, 1), slotsToRenew(0, 3)]).toEqual([2, 1, 1, 0]);
  });

  it('waits longer after each failure, up to half a minute', () => {
    expect([0, 1, 2, 3, 50].map(creationBackoffMs)).toEqual([0, 500, 1000, 2000, 30_000]);
  });
});
