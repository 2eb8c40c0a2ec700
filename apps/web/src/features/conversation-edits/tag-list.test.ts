import { expect, it } from '@jest/globals';
import { readTags } from './tag-list.ts';

it('reads tags apart by commas, each once', () => {
  expect(readTags(' bug, web ,bug,, ')).toEqual(['bug', 'web']);
  expect(readTags('')).toEqual([]);
});

it('refuses more than 20 and those longer than 50', () => {
  expect(readTags(Array.from({ length: 21 }, (_, index) => `t${index}`).join(','))).toBeNull();
  expect(readTags('x'.repeat(51))).toBeNull();
});
