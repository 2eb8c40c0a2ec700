import { describe, it } from '@jest/globals';

type Body = Parameters<typeof it>[1];

/** Why a test cannot run here. Anything that is no text and not true means that it can. */
type Reason = string | boolean | null | undefined;

/** Ends the running test as skipped; tools/test/child.ts knows it by its name. */
export class SkippedTest extends Error {
  override readonly name = 'SkippedTest';
}

/** Ends the running test as skipped. `npm test` and `npx jest` print the reason at their end. */
export function skipTest(reason: string): never {
  throw new SkippedTest(reason);
}

/** `it`, or with a reason one test that is skipped for it. */
export function itUnless(reason: Reason): (name: string, body: Body, timeoutMs?: number) => void {
  return (name, body, timeoutMs) => it(name, skips(reason) ? () => skipTest(textOf(reason)) : body, timeoutMs);
}

/** `describe`, or with a reason one test of the suite's name that is skipped for it. `body` does not run then. */
export function describeUnless(reason: Reason): (name: string, body: () => void) => void {
  return (name, body) => (skips(reason) ? it(name, () => skipTest(textOf(reason))) : describe(name, body));
}

const skips = (reason: Reason): boolean => typeof reason === 'string' || reason === true;
const textOf = (reason: Reason): string => (typeof reason === 'string' && reason !== '' ? reason : 'no reason given');
