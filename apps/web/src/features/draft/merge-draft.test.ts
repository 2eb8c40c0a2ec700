import { describe, expect, it } from '@jest/globals';
import { mergeDraft, NOTHING_SYNCED, readSynced, writeSynced } from './merge-draft.ts';

const kept = (text: string, version: number) => ({ text, version, updatedAt: '2026-11-28T11:00:00.000Z' });

describe('a draft on two devices', () => {
  it('follows the other device in a box that was not changed here', () => {
    expect(mergeDraft('', NOTHING_SYNCED, kept('from the phone', 5))).toEqual({
      text: 'from the phone',
      synced: { text: 'from the phone', version: 5 },
      other: null,
    });
  });

  it('is cleared here when it was sent there', () => {
    expect(mergeDraft('sent', { text: 'sent', version: 5 }, kept('', 0))).toMatchObject({ text: '', other: null });
  });

  it('keeps what was written here, which is the newest, and offers the other text', () => {
    expect(mergeDraft('from here', { text: '', version: 0 }, kept('from there', 5))).toEqual({
      text: 'from here',
      synced: { text: 'from there', version: 5 },
      other: 'from there',
    });
    expect(mergeDraft('more', { text: 'sent', version: 5 }, kept('', 0))).toMatchObject({ text: 'more', other: null });
  });

  it('changes nothing when nothing has changed there', () => {
    expect(mergeDraft('typed', { text: 'typ', version: 5 }, kept('typ', 5))).toMatchObject({ text: 'typed' });
  });

  it('is read back as it was kept, and broken storage is none', () => {
    expect(readSynced(writeSynced({ text: 'x', version: 5 }))).toEqual({ text: 'x', version: 5 });
    expect(writeSynced(NOTHING_SYNCED)).toBe('');
    for (const broken of ['', '{', 'null', '{"text":1,"version":1}'])
      expect(readSynced(broken)).toEqual(NOTHING_SYNCED);
  });
});
