import { describe, expect, it } from '@jest/globals';
import { SlipwayError } from '@slipway/errors';
import { CLUSTER_PATIENCE_MS, sandboxWait, wantsRoom } from './sandbox-wait.js';

describe('the wait for a sandbox', () => {
  const waitSentence = (failure: SlipwayError, waitedMs: number) =>
    sandboxWait(failure, waitedMs, false)?.sentence ?? null;
  const full = (extensions: Record<string, unknown>) =>
    new SlipwayError('sandbox.no-capacity', 'No sandbox became free in time.', { extensions });

  it('reports the position in the queue, an estimate, and the cluster’s reason', () => {
    expect(waitSentence(full({ position: 1, estimateSeconds: 4 }), 0)).toBe(
      'Next in the queue for a sandbox, a few seconds.',
    );
    expect(
      waitSentence(
        full({
          position: 7,
          queueLength: 9,
          estimateSeconds: 190,
          reason: '0/5 nodes are available: 5 Insufficient cpu.',
        }),
        0,
      ),
    ).toBe('Number 7 of 9 in the queue for a sandbox, about 4 minutes. 0/5 nodes are available: 5 Insufficient cpu.');
    expect(waitSentence(full({ position: 2, estimateSeconds: null }), 0)).toBe('Number 2 in the queue for a sandbox.');
  });

  it('passes on the reason without a position', () => {
    expect(waitSentence(full({}), 0)).toBe('No sandbox became free in time.');
    expect(
      waitSentence(new SlipwayError('sandbox.quota', 'The organization runs 10 sandboxes, which is its limit.'), 0),
    ).toBe('The organization runs 10 sandboxes, which is its limit.');
  });

  it('says at the limit of the organization the place, the count, and that room is made', () => {
    const detail = 'The organization runs 10 of 10 sandboxes, which is its limit.';
    const atLimit = new SlipwayError('sandbox.quota', detail, {
      extensions: { position: 2, queueLength: 3, estimateSeconds: null, reason: detail },
    });
    expect(sandboxWait(atLimit, 0, false)).toEqual({
      sentence: `Number 2 of 3 in the queue for a sandbox. ${detail}`,
      queue: { place: 2, length: 3, estimateSeconds: null, cause: 'organization-limit' },
    });
    expect(sandboxWait(atLimit, 0, true)).toEqual({
      sentence: `Number 2 of 3 in the queue for a sandbox, a few seconds. ${detail} A finished conversation is being paused to make room.`,
      queue: { place: 2, length: 3, estimateSeconds: 10, cause: 'organization-limit' },
    });
  });

  it('makes room at the limit at once, for an empty pool only when it had its time to refill, for a broken image never', () => {
    expect(wantsRoom(new SlipwayError('sandbox.quota', 'x'), 0)).toBe(true);
    expect(wantsRoom(full({ position: 1 }), 1_000)).toBe(false);
    expect(wantsRoom(full({ position: 1 }), 16_000)).toBe(true);
    expect(wantsRoom(new SlipwayError('sandbox.unschedulable', 'x'), 16_000)).toBe(true);
    expect(wantsRoom(new SlipwayError('sandbox.image-unavailable', 'x'), 16_000)).toBe(false);
  });

  it('waits for room without end, for a cluster that cannot run it a quarter of an hour, for anything else not at all', () => {
    const stuck = new SlipwayError(
      'sandbox.image-unavailable',
      'The image slipway/sandbox@sha256:0 cannot be pulled: not found.',
      {
        extensions: { position: 1 },
      },
    );
    expect(waitSentence(stuck, CLUSTER_PATIENCE_MS - 1)).toContain('cannot be pulled: not found');
    expect(waitSentence(stuck, CLUSTER_PATIENCE_MS + 1)).toBeNull();
    expect(waitSentence(full({ position: 1 }), CLUSTER_PATIENCE_MS * 100)).not.toBeNull();
    expect(waitSentence(new SlipwayError('sandbox.refused', 'The cluster says no.'), 0)).toBeNull();
  });
});
