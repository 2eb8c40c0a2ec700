import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { snapshotOf } from '../features/conversation/sample-events.ts';
import { decodePreview } from './preview-header.ts';

const packed = (text: string): string => deflateRawSync(text).toString('base64url');

describe('the preview of a page, on its way to the pages', () => {
  it('is read back as it was written', () => {
    const preview = {
      me: null,
      desk: null,
      conversation: {
        snapshot: snapshotOf(1, { title: 'Größe – 日本' }),
        rows: [{ kind: 'message', author: 'user', sender: null, text: '<b>\u2028', cut: false }],
      },
    };
    expect(decodePreview(packed(JSON.stringify(preview)))).toEqual(preview);
  });

  it('is nothing when it is absent, broken, of another version, or unpacks to more than a page holds', () => {
    const bomb = JSON.stringify({
      me: null,
      desk: null,
      conversation: { snapshot: snapshotOf(1, { title: 'x'.repeat(200 * 1024) }), rows: [] },
    });
    for (const value of [null, '', '!!', packed('{'), packed('{"title":1}'), packed(bomb)])
      expect(decodePreview(value)).toBeNull();
  });
});
