import { describe, expect, it } from '@jest/globals';
import { MAX_LIVE_TEXT_BYTES } from '@slipway/contracts/live';
import fc from 'fast-check';
import {
  beginWriting,
  dropWriting,
  forgetWriting,
  MAX_AGE_MS,
  MAX_CHARACTERS,
  MAX_KEPT,
  noteWriting,
  sweepWriting,
} from './kept-writing.ts';

/** As a browser's, in memory. */
class Memory implements Storage {
  private readonly items = new Map<string, string>();
  get length(): number {
    return this.items.size;
  }
  key(index: number): string | null {
    return [...this.items.keys()][index] ?? null;
  }
  getItem(key: string): string | null {
    return this.items.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    this.items.set(key, value);
  }
  removeItem(key: string): void {
    this.items.delete(key);
  }
  clear(): void {
    this.items.clear();
  }
  drafts(): string[] {
    return [...this.items.keys()].filter((key) => /^slipway(\.draft|\.message|:file-draft)/.test(key)).sort();
  }
}

const DAY = 86_400_000;
const NOW = 1_800_000_000_000;
const write = (storage: Memory, key: string, value: string, now: number): void => {
  storage.setItem(key, value);
  noteWriting(storage, key, now);
};

describe('what is written and not sent', () => {
  it('is kept for thirty days after its last change, and nothing else is touched', () => {
    const storage = new Memory();
    storage.setItem('slipway.last-org', 'acme');
    write(storage, 'slipway.message.a', 'old', NOW);
    write(storage, 'slipway.draft.b', 'changed', NOW);
    write(storage, 'slipway.draft.b', 'changed again', NOW + 10 * DAY);
    sweepWriting(storage, NOW + MAX_AGE_MS - 1);
    expect(storage.drafts()).toEqual(['slipway.draft.b', 'slipway.message.a']);
    sweepWriting(storage, NOW + MAX_AGE_MS);
    expect(storage.drafts()).toEqual(['slipway.draft.b']);
    expect(storage.getItem('slipway.last-org')).toBe('acme');
  });

  it('that was kept before times were noted, or whose list is broken, gets its thirty days from now', () => {
    const storage = new Memory();
    storage.setItem('slipway.message.a', 'from before');
    storage.setItem('slipway.written', '{"slipway.message.a":"nonsense"');
    sweepWriting(storage, NOW);
    sweepWriting(storage, NOW + MAX_AGE_MS - 1);
    expect(storage.drafts()).toEqual(['slipway.message.a']);
    sweepWriting(storage, NOW + MAX_AGE_MS);
    expect(storage.drafts()).toEqual([]);
  });

  it('is gone after a sign-out, and when somebody else signs in; who comes back finds theirs', () => {
    const storage = new Memory();
    beginWriting(storage, 'ada', NOW);
    write(storage, 'slipway:file-draft:c:/a.ts\u0000tab', '{}', NOW);
    beginWriting(storage, 'ada', NOW + DAY);
    expect(storage.drafts()).toHaveLength(1);
    beginWriting(storage, 'grace', NOW + DAY);
    expect(storage.drafts()).toEqual([]);
    write(storage, 'slipway.message.c', 'of grace', NOW + DAY);
    forgetWriting(storage);
    expect([storage.drafts(), storage.getItem('slipway.written'), storage.getItem('slipway.writer')]).toEqual([
      [],
      null,
      null,
    ]);
  });

  it('is kept also where it is all of the longest file that can be edited, also when a few words are written after it', () => {
    const storage = new Memory();
    const [file, huge] = ['slipway:file-draft:c:/long.ts\u0000tab', 'slipway:file-draft:c:/longer.ts\u0000tab'];
    write(storage, file, 'x'.repeat(MAX_LIVE_TEXT_BYTES), NOW);
    write(storage, 'slipway.message.c', 'and so', NOW + 1);
    sweepWriting(storage, NOW + 2);
    expect(storage.drafts()).toEqual(['slipway.message.c', file]);
    write(storage, huge, 'x'.repeat(MAX_CHARACTERS), NOW + DAY);
    expect(storage.drafts()).toEqual([huge]);
  });

  it('that was sent or saved leaves nothing behind', () => {
    const storage = new Memory();
    write(storage, 'slipway.message.a', 'x', NOW);
    write(storage, 'slipway.message.b', 'x', NOW);
    dropWriting(storage, 'slipway.message.a');
    expect([storage.drafts(), storage.getItem('slipway.written')]).toEqual([
      ['slipway.message.b'],
      `{"slipway.message.b":${NOW}}`,
    ]);
    dropWriting(storage, 'slipway.message.b');
    expect(storage.length).toBe(0);
    write(storage, 'slipway.message.c', 'sent', NOW);
    write(storage, 'slipway.message.c', '', NOW + 1);
    expect(storage.length).toBe(0);
  });

  it('is not pushed out by what was sent', () => {
    const storage = new Memory();
    write(storage, 'slipway.draft.org', 'not sent', NOW);
    for (let index = 0; index < MAX_KEPT; index += 1) storage.setItem(`slipway.message.${index}`, '');
    write(storage, 'slipway.message.last', 'x', NOW + 1);
    expect(storage.drafts()).toEqual(['slipway.draft.org', 'slipway.message.last']);
  });

  it('never is too old, too many or too much, whatever is written when, and the newest stays', () => {
    const act = fc.record({
      name: fc.integer({ min: 0, max: 400 }),
      length: fc.constantFrom(0, 10, 500_000),
      later: fc.integer({ min: 0, max: 3 * DAY }),
    });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 300, size: 'max' }), (acts) => {
        const storage = new Memory();
        const last = new Map<string, number>();
        let now = NOW;
        for (const { name, length, later } of acts) {
          now += later;
          const key = `slipway.message.${name}`;
          write(storage, key, 'x'.repeat(length), now);
          last.set(key, now);
          expect(storage.drafts().includes(key)).toBe(length > 0);
        }
        sweepWriting(storage, now);
        const kept = storage.drafts();
        expect(kept.length).toBeLessThanOrEqual(MAX_KEPT);
        if (kept.length > 1)
          expect(
            kept.reduce((sum, key) => sum + key.length + (storage.getItem(key)?.length ?? 0), 0),
          ).toBeLessThanOrEqual(MAX_CHARACTERS);
        // A time is noted once a minute: so much may be missing.
        for (const key of kept) expect(now - (last.get(key) ?? 0)).toBeLessThan(MAX_AGE_MS + 60_000);
      }),
      { numRuns: 30 },
    );
  });
});
