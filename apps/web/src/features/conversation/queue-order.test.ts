import { describe, expect, it } from '@jest/globals';
import { moved } from './queue-order.ts';

const QUEUE = [{ id: 'a' }, { id: 'b' }, { id: 'c' }];

describe('a message that is moved in the queue', () => {
  it('changes places with its neighbour', () => {
    expect(moved(QUEUE, 1, -1)).toEqual(['b', 'a', 'c']);
    expect(moved(QUEUE, 1, 1)).toEqual(['a', 'c', 'b']);
  });
  it('stays at an end', () => {
    expect(moved(QUEUE, 0, -1)).toEqual(['a', 'b', 'c']);
    expect(moved(QUEUE, 2, 1)).toEqual(['a', 'b', 'c']);
  });
});
