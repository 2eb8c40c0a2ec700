import { describe, expect, it } from '@jest/globals';
import type { EgressRequest } from '@slipway/contracts/sandboxes';
import { boundOf } from './request-bounds.ts';

const NOW = Date.parse('2026-01-01T12:00:00.000Z');
const asked = (index: number, minutesAgo: number, state: EgressRequest['state'] = 'denied'): EgressRequest => ({
  id: `egq_${index}`,
  host: `h${index}.example.com`,
  port: 443,
  state,
  tries: 1,
  actionId: null,
  firstTime: true,
  createdAt: new Date(NOW - minutesAgo * 60_000).toISOString(),
  decidedAt: null,
  decidedBy: null,
  scope: null,
  reason: '',
});
const many = (count: number, state?: EgressRequest['state']) =>
  Array.from({ length: count }, (_, index) => asked(index, index + 1, state));

describe('the bounds of requests', () => {
  it('are reached by four that wait, until one is answered', () => {
    expect(boundOf(many(3, 'waiting'), NOW)).toBeNull();
    expect(boundOf(many(4, 'waiting'), NOW)).toEqual({ kind: 'waiting', count: 4 });
    expect(boundOf([...many(3, 'waiting'), asked(9, 1)], NOW)).toBeNull();
  });

  it('are reached by twenty within an hour, until the oldest of these is an hour old', () => {
    expect(boundOf(many(19), NOW)).toBeNull();
    expect(boundOf([...many(20), asked(99, 61)], NOW)).toEqual({
      kind: 'hour',
      count: 20,
      until: '2026-01-01T12:40:00.000Z',
    });
    expect(boundOf(many(20), NOW + 41 * 60_000)).toBeNull();
  });

  it('are for hosts and uses of credentials together', () => {
    const use = { ...asked(9, 1, 'waiting'), id: 'cuq_9' };
    expect(boundOf([...many(3, 'waiting'), use], NOW)).toEqual({ kind: 'waiting', count: 4 });
  });
});
