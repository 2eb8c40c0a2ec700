import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import type { WorkspacePrints } from '@slipway/contracts/sandboxes';
import { Winnowing } from '@slipway/net';
import fc from 'fast-check';
import { BodyScan } from './body-scan.js';
import { PrintSet } from './print-set.js';

const WORDS = [
  'const',
  'return',
  'invoice',
  'total',
  'await',
  'customer',
  'amount',
  'if',
  '=>',
  '{',
  '}',
  'rows',
  '\n',
];
/** Text as of a program, the same for the same seed and never the same for two. */
const textOf = (seed: number, bytes: number): Buffer => {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state >>> 8;
  };
  let text = '';
  while (text.length < bytes) text += `${WORDS[next() % WORDS.length]}${next() % 7 === 0 ? next().toString(36) : ''} `;
  return Buffer.from(text.slice(0, bytes));
};
const printsOf = (files: ReadonlyArray<{ folder: string; content: Buffer }>, window: WorkspacePrints['window']) => {
  const folders = [...new Set(files.map(({ folder }) => folder))];
  const owners = new Map<number, number>();
  for (const { folder, content } of files)
    new Winnowing(window, (print) => {
      if (!owners.has(print)) owners.set(print, folders.indexOf(folder));
    }).push(content);
  const bytes = Buffer.alloc(4 * owners.size);
  [...owners.keys()].forEach((print, index) => void bytes.writeUInt32LE(print, 4 * index));
  const prints = bytes.toString('base64');
  return new PrintSet({
    window,
    folders,
    prints,
    owners: Buffer.from([...owners.values()]).toString('base64'),
    cut: false,
  });
};
const scan = (prints: PrintSet, type: string, body: Buffer, cuts: readonly number[]): Map<string, number> => {
  const looked = new BodyScan(prints, type);
  let from = 0;
  for (const cut of [...cuts.map((each) => each % (body.length + 1)).sort((a, b) => a - b), body.length]) {
    looked.push(body.subarray(from, cut));
    from = cut;
  }
  return looked.found();
};
const total = (found: ReadonlyMap<string, number>): number => [...found.values()].reduce((sum, each) => sum + each, 0);

const BILLING = textOf(1, 40_000);
const SHIPPING = textOf(2, 40_000);
const WORKSPACE = [
  { folder: 'src/billing', content: BILLING },
  { folder: 'src/shipping', content: SHIPPING },
];
const slice = fc.record({
  window: fc.constantFrom(64 as const, 128 as const, 256 as const),
  begin: fc.nat(30_000),
  more: fc.nat(8_000),
  before: fc.nat(3_000),
  after: fc.nat(3_000),
  cuts: fc.array(fc.nat(20_000), { maxLength: 12 }),
  seed: fc.integer({ min: 100, max: 1_000_000 }),
});

describe('a body with a slice of a tracked file anywhere inside of other bytes', () => {
  const forms: ReadonlyArray<{ what: string; type: string; of: (parts: [string, string, string]) => string }> = [
    { what: 'as it is', type: 'text/plain', of: (parts) => parts.join('') },
    { what: 'as JSON', type: 'application/json', of: ([a, b, c]) => JSON.stringify({ a, text: b, c }) },
    {
      what: 'as JSON that names itself a form',
      type: 'application/x-www-form-urlencoded',
      of: ([a, b, c]) => JSON.stringify([a, b, c]),
    },
    {
      what: 'as a form',
      type: 'application/x-www-form-urlencoded',
      of: ([a, b, c]) => new URLSearchParams({ a, b, c }).toString(),
    },
    { what: 'in base64', type: '', of: ([a, b, c]) => `${a} ${Buffer.from(b).toString('base64')} ${c}` },
    {
      what: 'in base64 in lines',
      type: '',
      of: ([a, b, c]) => `${a}\n\n${Buffer.from(b).toString('base64').replaceAll(/.{76}/g, '$&\r\n')}\n${c}`,
    },
    {
      what: 'in base64 in JSON',
      type: 'application/json',
      of: ([a, b, c]) => JSON.stringify({ a, file: Buffer.from(b).toString('base64'), c }),
    },
  ];
  for (const { what, type, of } of forms)
    it(`is found ${what}, with its size but for a window at each end, in whatever chunks it comes`, () => {
      fc.assert(
        fc.property(slice, ({ window, begin, more, before, after, cuts, seed }) => {
          const content = BILLING.subarray(begin, begin + window + 63 + more);
          const body = of([textOf(seed, before).toString(), content.toString(), textOf(seed + 1, after).toString()]);
          const found = scan(printsOf(WORKSPACE, window), type, Buffer.from(body), cuts);
          const bytes = found.get('src/billing') ?? 0;
          expect(bytes).toBeGreaterThanOrEqual(Math.max(content.length - 2 * window, 64));
          expect(bytes).toBeLessThanOrEqual(content.length);
          expect(found.get('src/shipping') ?? 0).toBe(0);
        }),
        { numRuns: 60 },
      );
    });

  it('is said for each folder by itself', () => {
    const body = Buffer.concat([SHIPPING.subarray(0, 10_000), BILLING.subarray(0, 3_000)]);
    const found = scan(printsOf(WORKSPACE, 64), 'text/plain', body, []);
    expect(Math.abs((found.get('src/shipping') ?? 0) - 10_000)).toBeLessThan(128);
    expect(Math.abs((found.get('src/billing') ?? 0) - 3_000)).toBeLessThan(128);
  });
});

describe('a body of other text, of noise or of what is packed', () => {
  it('has next to nothing of the workspace in it', () => {
    const prints = printsOf(WORKSPACE, 64);
    for (const seed of [7, 8, 9])
      expect(total(scan(prints, 'text/plain', textOf(seed, 1_000_000), []))).toBeLessThanOrEqual(128);
    const spaces = Buffer.from(`${' '.repeat(120)}\n${'-'.repeat(120)}\n`.repeat(2_000));
    expect(total(scan(printsOf([{ folder: 'a', content: spaces }], 64), 'text/plain', spaces, []))).toBe(0);
    expect(total(scan(prints, '', gzipSync(BILLING), []))).toBe(0);
  });
});

describe('fingerprints that a hostile sandbox says', () => {
  it('are left out where they name no folder, and never make a lookup endless', () => {
    const many = Buffer.alloc(4 * 65_536);
    for (let index = 0; index < 65_536; index += 1) many.writeUInt32LE((index * 65_536) >>> 0, 4 * index);
    const said = { window: 64 as const, folders: ['a'], prints: many.toString('base64'), cut: false };
    const strange = new PrintSet({ ...said, owners: Buffer.alloc(65_536, 7).toString('base64') });
    expect(strange.folderOf(65_536)).toBe(-1);
    const full = new PrintSet({ ...said, owners: Buffer.alloc(65_536).toString('base64') });
    expect([full.folderOf(65_536), full.folderOf(1)]).toEqual([0, -1]);
    expect(full.bytes).toBeLessThan(1024 * 1024);
  });
});
