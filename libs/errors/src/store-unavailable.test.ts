import { describe, expect, it } from '@jest/globals';
import { SlipwayError } from './slipway-error.js';
import { storeUnavailable } from './store-unavailable.js';

const failed = (message: string, code?: string): Error =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

describe('storeUnavailable', () => {
  it('knows a database that is away, silent, read-only or full, and says when to come back', () => {
    for (const error of [
      failed('connect', 'ECONNREFUSED'),
      failed('could not extend file', '53100'),
      failed('too many clients', '53300'),
      failed('terminating connection', '57P01'),
      failed('starting up', '57P03'),
      failed('connection failure', '08006'),
      failed('cannot execute INSERT in a read-only transaction', '25006'),
      failed('timeout exceeded when trying to connect'),
      failed('Query read timeout'),
      failed('Connection terminated unexpectedly'),
    ]) {
      const problem = storeUnavailable(error);
      expect([error.message, problem?.code, (problem?.more.retryAfterSeconds ?? 0) > 0]).toEqual([
        error.message,
        'service.unavailable',
        true,
      ]);
      expect(problem?.more.cause).toBe(error);
    }
  });

  it('leaves mistakes of ours, and what is said already, as they are', () => {
    for (const error of [
      failed('duplicate key', '23505'),
      failed('syntax error', '42601'),
      failed('x is undefined'),
      new SlipwayError('auth.missing', 'x'),
      null,
      'x',
    ])
      expect(storeUnavailable(error)).toBeNull();
  });
});
