import { createRequire } from 'node:module';
import path from 'node:path';
import type { Test } from '@jest/test-result';
import { expectedSeconds } from './seconds.ts';
import { findSuites } from './suites.ts';

// Its types know no default of a module.
const { default: Sequencer } = createRequire(import.meta.url)(
  '@jest/test-sequencer',
) as typeof import('@jest/test-sequencer');
const root = path.resolve(import.meta.dirname, '../..');

/** The longest first, so that none of them is left alone at the end. */
export default class LongestFirst extends Sequencer {
  override sort(tests: Test[]): Test[] {
    const seconds = expectedSeconds(root, findSuites(root));
    const expected = (test: Test): number => seconds.get(path.relative(root, test.path).replaceAll(path.sep, '/')) ?? 0;
    return [...tests].sort((one, other) => expected(other) - expected(one));
  }
}
