import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import fc from 'fast-check';
import { digestOf, type ImageInputs, imageTags } from './tags.ts';

const word = fc.string({ minLength: 1, maxLength: 12 });
const parts = fc.dictionary(word, word, { minKeys: 1, maxKeys: 6 });
const inputs: fc.Arbitrary<ImageInputs> = fc.record({
  version: fc.stringMatching(/^\d{1,2}\.\d{1,2}\.\d{1,2}$/),
  base: word,
  lock: parts,
  sources: parts,
});
const changed = (part: Readonly<Record<string, string>>, by: string): Record<string, string> => {
  const [name = ''] = Object.keys(part);
  return { ...part, [name]: `${part[name]}${by}` };
};
const property = (what: (image: ImageInputs, by: string) => void): void =>
  fc.assert(fc.property(inputs, word, what), { numRuns: 500 });

describe('the tags of an image', () => {
  it('differ in the source tag alone when a file of ours differs', () =>
    property((image, by) => {
      const [before, after] = [imageTags(image), imageTags({ ...image, sources: changed(image.sources, by) })];
      assert.notEqual(after.source, before.source);
      assert.deepEqual({ ...after, source: '' }, { ...before, source: '' });
    }));

  it('differ in lock and source tag when a dependency differs', () =>
    property((image, by) => {
      const [before, after] = [imageTags(image), imageTags({ ...image, lock: changed(image.lock, by) })];
      assert.notEqual(after.source, before.source);
      assert.notEqual(after.lock, before.lock);
      assert.equal(after.versioned, before.versioned);
    }));

  it('differ in the versioned tag alone when only the version of Slipway differs', () =>
    property((image) => {
      const [before, after] = [imageTags(image), imageTags({ ...image, version: `${image.version}1` })];
      assert.notEqual(after.versioned, before.versioned);
      assert.deepEqual({ ...after, versioned: '' }, { ...before, versioned: '' });
    }));

  it('differ in source and lock tag when the base differs', () =>
    property((image, by) => {
      const [before, after] = [imageTags(image), imageTags({ ...image, base: `${image.base}${by}` })];
      assert.notEqual(after.source, before.source);
      assert.notEqual(after.lock, before.lock);
    }));

  it('do not depend on the order in which parts are named', () =>
    property((image) => {
      const turned = (part: Readonly<Record<string, string>>): Record<string, string> =>
        Object.fromEntries(Object.entries(part).reverse());
      assert.deepEqual(
        imageTags({ ...image, lock: turned(image.lock), sources: turned(image.sources) }),
        imageTags(image),
      );
    }));

  it('tell a dependency from a file of ours with the same name', () =>
    property(({ version, base, lock, sources }) => {
      const [one, other] = [
        { ...lock, x: '1' },
        { ...sources, x: '2' },
      ];
      assert.notEqual(
        imageTags({ version, base, lock: one, sources: other }).source,
        imageTags({ version, base, lock: { ...one, x: '2' }, sources: { ...other, x: '1' } }).source,
      );
    }));

  it('are what registries and containerd accept', () =>
    property((image) => {
      for (const tag of Object.values(imageTags(image))) assert.match(tag, /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/);
    }));
});

describe('a digest of named parts', () => {
  it('keeps apart what concatenation would run together', () => {
    assert.notEqual(digestOf({ a: 'b,c' }), digestOf({ a: 'b', c: '' }));
    assert.notEqual(digestOf({ ab: 'c' }), digestOf({ a: 'bc' }));
  });
});
