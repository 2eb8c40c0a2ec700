import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createIds, timeOfId } from './ids.js';

describe('ids', () => {
  it('sort by the time at which they were made', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 47 }), fc.integer({ min: 1, max: 2 ** 40 }), (time, later) => {
        const at = (milliseconds: number) => createIds({ now: () => ({ getTime: () => milliseconds }) as Date });
        expect(at(time).uuid() < at(time + later).uuid()).toBe(true);
        expect(at(time).prefixed('org') < at(time + later).prefixed('org')).toBe(true);
      }),
    );
  });

  it('contain the time at which they were made, to the millisecond', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 8_640_000_000_000_000 }).map((time) => time % 2 ** 48),
        (time) => {
          expect(timeOfId(createIds({ now: () => new Date(time) }).prefixed('clm')).getTime()).toBe(time);
        },
      ),
    );
    for (const none of ['', 'clm', 'clm_', 'clm_short', 'clm_iiiiiiiiiiiiiiiiiiiiiiiiii'])
      expect(() => timeOfId(none)).toThrow('no id with a time');
  });

  it('are UUIDs of version 7 and variant 1, whatever the random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (random) => {
        const ids = createIds({ now: () => new Date(1_700_000_000_000) }, () => Uint8Array.from(random));
        expect(ids.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(ids.prefixed('sbx')).toMatch(/^sbx_[0-9a-hjkmnp-tv-z]{26}$/);
      }),
    );
  });
});
