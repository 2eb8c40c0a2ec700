// What `@jest/globals` is in the process of a test file (child.mjs). Module mocks and snapshots are not there.
import { createRequire } from 'node:module';
import { jestExpect } from '@jest/expect';
import type { ModernFakeTimers } from '@jest/fake-timers';
import type { ModuleMocker } from 'jest-mock';

export { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } from 'jest-circus';

export const expect = jestExpect;

const require = createRequire(import.meta.url);
const once = <T>(make: () => T): (() => T) => {
  let made: T | undefined;
  return () => (made ??= make());
};
// Few files need them, and each file loads everything anew.
const mocker = once(
  (): ModuleMocker => new (require('jest-mock') as typeof import('jest-mock')).ModuleMocker(globalThis),
);
const timers = once((): ModernFakeTimers => {
  const { ModernFakeTimers } = require('@jest/fake-timers') as typeof import('@jest/fake-timers');
  return new ModernFakeTimers({ config: { fakeTimers: {} } as never, global: globalThis });
});

export const jest = {
  fn: (...args: Parameters<ModuleMocker['fn']>) => mocker().fn(...args),
  spyOn: ((...args: Parameters<ModuleMocker['spyOn']>) => mocker().spyOn(...args)) as ModuleMocker['spyOn'],
  restoreAllMocks: () => mocker().restoreAllMocks(),
  useFakeTimers: (options?: Parameters<ModernFakeTimers['useFakeTimers']>[0]) => timers().useFakeTimers(options),
  useRealTimers: () => timers().useRealTimers(),
  setSystemTime: (now?: number | Date) => timers().setSystemTime(now),
  advanceTimersByTime: (ms: number) => timers().advanceTimersByTime(ms),
  advanceTimersByTimeAsync: (ms: number) => timers().advanceTimersByTimeAsync(ms),
  /** Of each test and hook of the file that sets none. */
  setTimeout: (ms: number) => {
    Object.assign(globalThis, { [Symbol.for('TEST_TIMEOUT_SYMBOL')]: ms });
  },
};
