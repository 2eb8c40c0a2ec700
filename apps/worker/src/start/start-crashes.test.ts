import { after, before, describe, it } from 'node:test';
import { until } from '@slipway/testing';
import { expect } from 'expect';
import fc from 'fast-check';
import { hasInboxOf } from '../conversations/conversation.queries.js';
import { LockBusy } from '../conversations/conversation-locks.js';
import { ORG, openScene, type Scene } from '../testing/scene.js';

/** What may happen to one conversation, in any order. A crash cuts a job off at its n-th call to a peer, before or after the peer has acted. */
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
  let scene: Scene;
  before(async () => {
    scene = await openScene();
  });
  after(() => scene.close());

  it('every message is in the log exactly once and in order, with at most one sandbox at a time', { timeout: 400_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(Happening, { maxLength: 7 }), async (happenings) => {
        const { id, message } = await scene.create();
        const sent = [message];
        // As app-server takes a message in.
        const tell = async (): Promise<void> => {
          sent.push(await scene.send(id, `message ${sent.length}`));
          await scene.desire(id, 'run');
          await scene.addJob('conversation-start', id);
        };
        for (const happening of happenings) {
          switch (happening.kind) {
            case 'message':
              await tell();
              break;
            case 'job':
              await scene.start(id);
              break;
            case 'two jobs':
              // One that waits for the other for too long comes again.
              await Promise.all([scene.start(id), scene.start(id)].map((job) => job.catch(unlessBusy)));
              break;
            case 'crash':
              await crash(happening.call, happening.moment, (signal) => scene.start(id, signal));
              break;
            case 'sandbox lost':
              scene.peers.loseSandbox(id);
              // Its silence has outlasted the lease.
              await scene.expireLease(id);
              break;
          }
        }
        await scene.start(id);
        // One that had nothing to do when it lost its sandbox rests, until it is told something.
        if ((await scene.row(id)).desired === 'rest') {
          expect(await hasInboxOf(scene.pool, ORG, id)).toBe(false);
          await tell();
        }
        // A job that asks to come again later comes again.
        await until('the start ends', async () => {
          await scene.start(id);
          return (await scene.row(id)).startStatus === 'READY';
        });
        await scene.rest(id);
        const row = await scene.row(id);
        expect({ start: row.startStatus, sandbox: row.sandboxStatus }).toEqual({ start: 'READY', sandbox: 'RUNNING' });
        const log = await scene.log(id);
        expect(log.map((event) => event.seq)).toEqual(log.map((_, index) => index + 1));
        expect(log.filter((event) => event.kind === 'MessageEvent').map((event) => event.id)).toEqual(sent);
        expect(await scene.jobs(id)).toEqual([]);
        // A crash alone never costs a sandbox: only a lost one is claimed again.
        if (happenings.every((happening) => happening.kind !== 'sandbox lost')) expect(scene.peers.claims.get(id)).toBe(1);
      }),
      { numRuns: 40 },
    );
  });

  function unlessBusy(error: unknown): void {
    if (!(error instanceof LockBusy)) throw error;
  }

  async function crash(call: number, moment: 'before' | 'after', job: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const end = new AbortController();
    let calls = 0;
    scene.peers.onRequest = (_request, when) => {
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
      scene.peers.onRequest = () => {};
    }
  }
});
