import { describe, expect, it } from '@jest/globals';
import { OpenSeats } from './open-seats.js';

describe('open seats', () => {
  it('are refused to a user, and to an organization of many users, at the limit, and free again once each is given back', () => {
    const seats = new OpenSeats({ perUser: 2, perOrg: 3 });
    const take = (user: string, org: string) => seats.take({ user, org });
    const first = take('a', 'x');
    take('a', 'x');
    expect(take('a', 'y')).toBe('user');
    take('b', 'x');
    expect(take('c', 'x')).toBe('org');
    expect(typeof take('c', 'y')).toBe('function');
    if (typeof first === 'string') throw new Error(first);
    first();
    first();
    expect([seats.open, seats.fullest]).toEqual([3, { user: 1, org: 2 }]);
    expect(typeof take('c', 'x')).toBe('function');
    expect(take('b', 'x')).toBe('org');
    expect(typeof seats.take({ user: 'a' })).toBe('function');
  });
});
