import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { carryEnds, type PodView, readPod } from './cluster-objects.js';
import { WatchCache } from './watch-cache.js';

const PODS = 10_000;
/** Bytes of one pod as the API server sends it. */
const SENT = 8_000;

describe('what is kept of the objects of a cluster', () => {
  it('is small: ten thousand pods take less than 12 MB, and nothing of their lines stays', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const line = (index: number): string =>
      JSON.stringify({
        metadata: {
          name: `sb-${String(index).padStart(36, '0')}`,
          uid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
          resourceVersion: String(1_000_000 + index),
          labels: { 'slipway.dev/slot': String(index).padStart(36, '0'), 'slipway.dev/claim': 'c' },
          managedFields: 'x'.repeat(SENT - 900),
        },
        spec: {
          nodeName: `node-${index % 200}`,
          tolerations: ['not-ready', 'unreachable'].map((state) => ({
            key: `node.kubernetes.io/${state}`,
            operator: 'Exists',
            effect: 'NoExecute',
          })),
        },
        status: {
          phase: 'Running',
          podIP: `10.1.${index >> 8}.${index & 255}`,
          containerStatuses: [{ name: 'agent-server', restartCount: 0, state: { running: { startedAt: 'now' } } }],
          initContainerStatuses: [{ name: 'action-server', restartCount: 0, state: { running: { startedAt: 'now' } } }],
        },
      });
    const cache = new WatchCache<PodView>(carryEnds);
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let index = 0; index < PODS; index += 1) cache.set(readPod(JSON.parse(line(index))));
    collect();
    const kept = process.memoryUsage().heapUsed - before;
    expect(cache.size).toBe(PODS);
    expect(kept).toBeLessThan(12_000_000);
    expect(PODS * SENT).toBeGreaterThan(6 * kept);
  });
});
