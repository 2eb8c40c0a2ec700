import type { QueueName } from '@slipway/contracts/operate';
import { Counter, Histogram, type Registry } from '@slipway/telemetry/http';
import type { JobHandler, Queue } from './queue.js';

/**
 * The queue, with its jobs counted where they run: `jobs_total` by result, `job_seconds`. A handler that rejects is
 * `failed`, and comes again; one whose process ends is `interrupted`, and runs elsewhere.
 */
export function measuredQueue(queue: Queue, registry: Registry): Queue {
  const registers = [registry];
  const jobs = new Counter({
    name: 'jobs_total',
    help: 'Jobs that ended, by queue; result is done, failed (will retry) or interrupted (runs elsewhere)',
    labelNames: ['queue', 'result'],
    registers,
  });
  const seconds = new Histogram({
    name: 'job_seconds',
    help: 'Run time of a job, by queue',
    labelNames: ['queue'],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers,
  });
  return {
    add: (name, payload, options) => queue.add(name, payload, options),
    ping: (signal) => queue.ping(signal),
    close: () => queue.close(),
    handle: <Q extends QueueName>(name: Q, handler: JobHandler<Q>, options: { concurrency: number }): void => {
      // There from the beginning, so that the first failure is a rise and not a new series.
      for (const result of ['done', 'failed', 'interrupted']) jobs.inc({ queue: name, result }, 0);
      seconds.zero({ queue: name });
      const measured: JobHandler<Q> = async (payload, signal) => {
        const began = performance.now();
        let result = 'failed';
        try {
          await handler(payload, signal);
          result = 'done';
        } catch (error) {
          if (signal.aborted) result = 'interrupted';
          throw error;
        } finally {
          jobs.inc({ queue: name, result });
          seconds.observe({ queue: name }, (performance.now() - began) / 1000);
        }
      };
      queue.handle(name, measured, options);
    },
  };
}
