import { describe, expect, it } from '@jest/globals';
import { fakeDate } from '@slipway/testing/jest';
import { SessionCookie } from './session-cookie.js';

const cookie = (secret = 'a'.repeat(32)): SessionCookie => new SessionCookie(secret);

describe('the cookie of a session', () => {
  it('that was good once is good until its time and no longer, however often it is shown', async () => {
    fakeDate(Date.parse('2026-11-22T12:00:00Z'));
    const ours = cookie();
    const value = await ours.sign('ses_1', new Date('2026-11-22T12:01:00Z'));
    expect([await ours.verify(value), await ours.verify(value)]).toEqual(['ses_1', 'ses_1']);
    fakeDate(Date.parse('2026-11-22T12:00:59Z'));
    expect(await ours.verify(value)).toBe('ses_1');
    fakeDate(Date.parse('2026-11-22T12:01:00Z'));
    expect([await ours.verify(value), await ours.verify(value)]).toEqual([null, null]);
  });

  it('with another character than one that was good, or of another key, is refused', async () => {
    const ours = cookie();
    const value = await ours.sign('ses_1', new Date(Date.now() + 60_000));
    expect(await ours.verify(value)).toBe('ses_1');
    const changed = `${value.slice(0, -5)}${value.at(-5) === 'A' ? 'E' : 'A'}${value.slice(-4)}`;
    for (const other of [
      changed,
      value.slice(0, -1),
      await cookie('b'.repeat(32)).sign('ses_1', new Date(Date.now() + 60_000)),
    ])
      expect([other, await ours.verify(other)]).toEqual([other, null]);
  });
});
