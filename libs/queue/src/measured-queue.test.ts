import { describe, expect, it } from '@jest/globals';
import { Registry } from '@slipway/telemetry/http';
import { measuredQueue } from './measured-queue.js';
import type { JobHandler, Queue } from './queue.js';

const payload = { orgId: 'org_1', conversationId: '01999999-9999-7999-8999-999999999999' };

/** The queue as a handler sees it, and the jobs' way in. */
function harness(): { registry: Registry; queue: Queue; run: (signal?: AbortSignal) => Promise<void> } {
  let handler: JobHandler<'conversation-start'> | undefined;
  const bare: Queue = {
    add: async () => {},
    ping: async () => {},
    close: async () => {},
    handle: (_name, given) => {
      handler = given as unknown as JobHandler<'conversation-start'>;
    },
  };
  const registry = new Registry();
  const run = async (signal = new AbortController().signal): Promise<void> =>
    handler?.(payload as Parameters<JobHandler<'conversation-start'>>[0], signal);
  return { registry, queue: measuredQueue(bare, registry), run };
}

describe('measuredQueue', () => {
  it('counts jobs by how they end, times each, and has a 0 before the first', async () => {
    const { registry, queue, run } = harness();
    const stop = new AbortController();
    const work = [
      async () => {},
      async () => Promise.reject(new Error('once more')),
      async () => Promise.reject(stop.signal.reason),
    ];
    queue.handle('conversation-start', () => (work.shift() as () => Promise<void>)(), { concurrency: 1 });
    expect(await registry.metrics()).toContain('jobs_total{queue="conversation-start",result="failed"} 0');
    await run();
    await expect(run()).rejects.toThrow('once more');
    stop.abort();
    await expect(run(stop.signal)).rejects.toThrow();
    const text = await registry.metrics();
    for (const result of ['done', 'failed', 'interrupted'])
      expect(text).toContain(`jobs_total{queue="conversation-start",result="${result}"} 1`);
    expect(text).toContain('job_seconds_count{queue="conversation-start"} 3');
  });
});
