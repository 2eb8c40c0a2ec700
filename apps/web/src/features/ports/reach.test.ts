import { describe, expect, it } from '@jest/globals';
import { CONVERSATION_STATUSES, SANDBOX_STATUSES } from '@slipway/contracts/conversations';
import { reachOf } from './reach.ts';

describe('reachOf', () => {
  it('is open while an agent works, whatever was read of the sandbox before', () => {
    for (const sandbox of [...SANDBOX_STATUSES, undefined]) expect(reachOf('working', sandbox)).toBe('open');
  });

  it('says paused for a sandbox that was given back while its conversation had come to an end', () => {
    expect(reachOf('finished', 'PAUSED')).toBe('paused');
    expect(reachOf('paused', 'RUNNING')).toBe('paused');
    expect(reachOf('failed', 'MISSING')).toBe('none');
    expect(reachOf('starting', 'PAUSED')).toBe('starting');
  });

  it('stands in nobody’s way before the sandbox was asked for, unless the log says so', () => {
    const closed = CONVERSATION_STATUSES.filter((status) => reachOf(status, undefined) !== 'open');
    expect(closed).toEqual(['starting', 'paused']);
  });
});
