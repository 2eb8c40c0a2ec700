import { describe, expect, it } from '@jest/globals';
import { en } from './en/index.ts';
import { messagesOf } from './messages-of.ts';
import type { Catalogue } from './translate.ts';

/** Values that React cannot send from the server to a browser. */
function unsendable(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const prototype: unknown = Object.getPrototypeOf(value);
  const found = prototype === Object.prototype || prototype === Array.prototype ? [] : [value];
  return [...found, ...Object.values(value).flatMap(unsendable)];
}

describe('the compiled messages', () => {
  it('are plain values, of every feature', () => {
    const features = Object.keys(en) as (keyof Catalogue)[];
    expect(unsendable(messagesOf(features))).toEqual([]);
  });
});
