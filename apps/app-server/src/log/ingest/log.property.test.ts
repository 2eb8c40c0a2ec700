import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ConversationEvent } from '@slipway/contracts/events';
import { SlipwayError } from '@slipway/errors';
import fc from 'fast-check';
import { ConversationApp, executionStatus, thought, type User } from '../../testing/conversation-app.js';
import { IngestService } from './ingest.service.js';

/** What a producer does: hands in a stretch of its own log, from somewhere, as often as it likes, beside others. */
interface Hand {
  readonly epoch: number;
  readonly from: number;
  readonly count: number;
}

const EPOCHS = 3;
const EVENTS = 12;

const hands = fc.array(
  fc.record({
    epoch: fc.integer({ min: 1, max: EPOCHS }),
    from: fc.integer({ min: 1, max: EVENTS }),
    count: fc.integer({ min: 0, max: 6 }),
  }),
  { minLength: 1, maxLength: 14 },
);
/**
 * Rounds that follow each other; within one, everything happens at once. Before each, the platform may give the
 * conversation to the next sandbox.
 */
const rounds = fc.array(fc.record({ takeOver: fc.boolean(), hands }), { minLength: 1, maxLength: 6 });

describe('the log, whatever sandboxes do', () => {
  let app: ConversationApp;
  let user: User;
  let ingest: IngestService;

  beforeAll(async () => {
    app = await ConversationApp.start();
    user = await app.user();
    ingest = (app.replicas[0] as (typeof app.replicas)[number]).app.get(IngestService);
  });
  afterAll(() => app?.close());

  /**
   * The log of one epoch's sandbox. A later one begins with the last two events of the one before it, as a recovery
   * does.
   */
  const logsOf = (): ConversationEvent[][] => {
    const logs: ConversationEvent[][] = [];
    for (let epoch = 0; epoch < EPOCHS; epoch += 1) {
      const own = Array.from({ length: EVENTS }, (_, index) =>
        index % 5 === 4 ? executionStatus(index % 2 === 0 ? 'running' : 'idle') : thought(`${epoch + 1}/${index + 1}`),
      );
      logs.push(epoch === 0 ? own : [...(logs[epoch - 1] as ConversationEvent[]).slice(-2), ...own.slice(2)]);
    }
    return logs;
  };

  it('has no gap, has each event once, has each sandbox’s events in its order without a hole, and none of a sandbox that was replaced', async () => {
    await fc.assert(
      fc.asyncProperty(rounds, async (given) => {
        const { id } = await app.conversation(user);
        const logs = logsOf();
        let current = 1;
        await app.owner.query(`UPDATE app.conversation SET epoch = 1 WHERE id = $1`, [id]);
        const hand = async ({ epoch, from, count }: Hand): Promise<void> => {
          const events = (logs[epoch - 1] as ConversationEvent[])
            .slice(from - 1, from - 1 + count)
            .map((event, index) => ({ producerSeq: from + index, event }));
          try {
            const ack = await ingest.ingest({ org: user.orgId, conversation: id, epoch }, { epoch, events });
            // What is acknowledged is stored.
            expect(ack.ackedProducerSeq).toBeGreaterThanOrEqual(events.at(-1)?.producerSeq ?? 0);
          } catch (error) {
            expect(error).toBeInstanceOf(SlipwayError);
            const { code } = error as SlipwayError;
            expect(['ingest.gap', 'ingest.stale-epoch']).toContain(code);
            if (code === 'ingest.stale-epoch') expect(epoch).not.toBe(current);
          }
        };
        for (const { takeOver, hands: together } of given) {
          if (takeOver && current < EPOCHS) {
            current += 1;
            await app.owner.query(`UPDATE app.conversation SET epoch = $2, acked = 0 WHERE id = $1`, [id, current]);
          }
          await Promise.all(together.map(hand));
        }
        // The newest sandbox goes on until everything it has is acknowledged, three at a time.
        for (let from = 1; from <= EVENTS; from += 3) await hand({ epoch: current, from, count: 3 });

        const { rows } = await app.owner.query<{ seq: string; epoch: number; producer_seq: string; event_id: string }>(
          'SELECT seq, epoch, producer_seq, event_id FROM app.event WHERE conversation_id = $1 ORDER BY seq',
          [id],
        );
        expect(rows.map(({ seq }) => Number(seq))).toEqual(rows.map((_, index) => index + 1));
        expect(new Set(rows.map(({ event_id }) => event_id)).size).toBe(rows.length);
        expect(rows.map(({ epoch }) => epoch)).toEqual(rows.map(({ epoch }) => epoch).sort((a, b) => a - b));
        const stored = new Set<string>();
        for (let epoch = 1; epoch <= current; epoch += 1) {
          const own = rows.filter((row) => row.epoch === epoch);
          const last = Number(own.at(-1)?.producer_seq ?? 0);
          // All of its log up to the last that was stored, but for what the log had before from the one it took over.
          const expected = (logs[epoch - 1] as ConversationEvent[])
            .slice(0, last)
            .filter((event) => !stored.has(event.id));
          expect(own.map(({ event_id }) => event_id)).toEqual(expected.map((event) => event.id));
          for (const { event_id } of own) stored.add(event_id);
        }
        for (const event of logs[current - 1] as ConversationEvent[]) expect(stored.has(event.id)).toBe(true);
        const head = await app.owner.query<{ head: string }>('SELECT head FROM app.conversation WHERE id = $1', [id]);
        expect(Number(head.rows[0]?.head)).toBe(rows.length);
      }),
      { numRuns: 60 },
    );
  });
});
