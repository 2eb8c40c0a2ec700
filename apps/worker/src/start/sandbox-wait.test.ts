import { describe, it } from 'node:test';
import { SlipwayError } from '@slipway/errors';
import { expect } from 'expect';
import { CLUSTER_PATIENCE_MS, waitSentence } from './sandbox-wait.js';

describe('the wait for a sandbox', () => {
  const full = (extensions: Record<string, unknown>) => new SlipwayError('sandbox.no-capacity', 'No sandbox became free in time.', { extensions });

  it('tells the place in the queue, roughly how long, and the words of the cluster', () => {
    expect(waitSentence(full({ position: 1, estimateSeconds: 4 }), 0)).toBe('Next in the queue for a sandbox, a few seconds.');
    expect(waitSentence(full({ position: 7, estimateSeconds: 190, reason: '0/5 nodes are available: 5 Insufficient cpu.' }), 0)).toBe(
      'Number 7 in the queue for a sandbox, about 4 minutes. 0/5 nodes are available: 5 Insufficient cpu.',
    );
    expect(waitSentence(full({ position: 2, estimateSeconds: null }), 0)).toBe('Number 2 in the queue for a sandbox.');
  });

  it('says what it was told when there is no place', () => {
    expect(waitSentence(full({}), 0)).toBe('No sandbox became free in time.');
    expect(waitSentence(new SlipwayError('sandbox.quota', 'The organization runs 10 sandboxes, which is its limit.'), 0)).toBe(
      'The organization runs 10 sandboxes, which is its limit.',
    );
  });

  it('waits for room without end, for a cluster that cannot run it a quarter of an hour, for anything else not at all', () => {
    const stuck = new SlipwayError('sandbox.image-unavailable', 'The image slipway/sandbox@sha256:0 cannot be pulled: not found.', {
      extensions: { position: 1 },
    });
    expect(waitSentence(stuck, CLUSTER_PATIENCE_MS - 1)).toContain('cannot be pulled: not found');
    expect(waitSentence(stuck, CLUSTER_PATIENCE_MS + 1)).toBeNull();
    expect(waitSentence(full({ position: 1 }), CLUSTER_PATIENCE_MS * 100)).not.toBeNull();
    expect(waitSentence(new SlipwayError('sandbox.refused', 'The cluster says no.'), 0)).toBeNull();
  });
});
