import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import fc from 'fast-check';
import { hasInboxOf } from '../conversations/conversation.queries.js';
import { LockBusy } from '../conversations/conversation-locks.js';
import { type Harness, ORG, openHarness } from '../testing/harness.js';

/**
 * What may happen to one conversation, in any order. A crash cuts a job off at its n-th call to a peer, before or after
 * the peer has acted.
 */
const Happening = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('message' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('job' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('crash' as const),
      call: fc.integer({ min: 1, max: 9 }),
      moment: fc.constantFrom('before' as const, 'after' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('two jobs' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sandbox lost' as const) }) },
);

describe('start saga under crashes, repeated jobs and lost sandboxes', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await openHarness();
  });
  afterAll(() => harness.close());

  it('every message is in the log exactly once and in order, with at most one sandbox at a time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(Happening, { maxLength: 7 }), async (happenings) => {
        const { id, message } = await harness.create();
        const sent = [message];
        // As app-server takes a message in.
        const tell = async (): Promise<void> => {
          sent.push(await harness.send(id, `message ${sent.length}`));
          await harness.desire(id, 'run');
          await harness.addJob('conversation-start', id);
        };
        for (const happening of happenings) {
          switch (happening.kind) {
            case 'message':
              await tell();
              break;
            case 'job':
              await harness.start(id);
              break;
            case 'two jobs':
              // One that waits for the other for too long comes again.
              await Promise.all([harness.start(id), harness.start(id)].map((job) => job.catch(unlessBusy)));
              break;
            case 'crash':
              await crash(happening.call, happening.moment, (signal) => harness.start(id, signal));
              break;
            case 'sandbox lost':
              harness.peers.loseSandbox(id);
              // Its silence has outlasted the lease.
              await harness.expireLease(id);
              break;
          }
        }
        await harness.start(id);
        // One that was idle when it lost its sandbox stays paused until its next message.
        if ((await harness.row(id)).desired === 'rest') {
          expect(await hasInboxOf(harness.pool, ORG, id)).toBe(false);
          await tell();
        }
        // A job that asks to come again later comes again.
        await until('the start ends', async () => {
          await harness.start(id);
          return (await harness.row(id)).startStatus === 'READY';
        });
        await harness.rest(id);
        const row = await harness.row(id);
        expect({ start: row.startStatus, sandbox: row.sandboxStatus }).toEqual({ start: 'READY', sandbox: 'RUNNING' });
        const log = await harness.log(id);
        expect(log.map((event) => event.seq)).toEqual(log.map((_, index) => index + 1));
        expect(log.filter((event) => event.kind === 'MessageEvent').map((event) => event.id)).toEqual(sent);
        expect(await harness.jobs(id)).toEqual([]);
        // A crash alone never costs a sandbox: only a lost one is claimed again.
        if (happenings.every((happening) => happening.kind !== 'sandbox lost'))
          expect(harness.peers.claims.get(id)).toBe(1);
      }),
      { numRuns: 40 },
    );
  }, 400_000);

  function unlessBusy(error: unknown): void {
    if (!(error instanceof LockBusy)) throw error;
  }

  async function crash(
    call: number,
    moment: 'before' | 'after',
    job: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const end = new AbortController();
    let calls = 0;
    harness.peers.onRequest = (_request, when) => {
      if (when === 'before') calls += 1;
      if (calls === call && when === moment) {
        end.abort(new Error('crash'));
        throw new Error('crash');
      }
    };
    try {
      await job(end.signal);
    } catch (error) {
      if (!end.signal.aborted) throw error;
    } finally {
      harness.peers.onRequest = () => {};
    }
  }
});
