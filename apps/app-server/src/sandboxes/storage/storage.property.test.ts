import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inOrg } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import fc from 'fast-check';
import { ConversationTrash } from '../../conversations/edits/conversation-trash.service.js';
import { IngestService } from '../../log/ingest/ingest.service.js';
import { ConversationApp, thought, type User } from '../../testing/conversation-app.js';

const BLOCK = 64 * 1024;
const LIMIT = 16 * BLOCK;
const RESERVE = 2 ** 20;
const CONVERSATIONS = 4;

/** What happens to one of the conversations, beside others. */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('events' as const),
      of: fc.nat(CONVERSATIONS - 1),
      bytes: fc.constantFrom(10, 20_000, 31_000, 90_000, 400_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('again' as const),
      of: fc.nat(CONVERSATIONS - 1),
      bytes: fc.constant(90_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('delete' as const),
      of: fc.nat(CONVERSATIONS - 1),
      bytes: fc.constant(0),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      of: fc.nat(CONVERSATIONS - 1),
      bytes: fc.constant(0),
    }),
  },
);
/** Each conversation writes more than its share of the limit, one after the other. */
const FILLS = [0, 1, 2, 3].map((of) => [{ kind: 'events' as const, of, bytes: 400_000 as const }]);
/** Rounds that follow each other; within one, everything happens at once, on two replicas in turn. */
const rounds = fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 8 });

describe('the counts of storage, whatever sandboxes, members and sweeps do at once on several replicas', () => {
  let app: ConversationApp;
  let user: User;
  beforeAll(async () => {
    app = await ConversationApp.start({ replicas: 2 });
    user = await app.user();
  });
  afterAll(() => app?.close());

  it('never say less than is stored, add up, and keep to the limit but for the share of endings and what the platform itself says', async () => {
    const ingests = app.replicas.map(({ app: replica }) => replica.get(IngestService));
    const trash = app.replicas[0]?.app.get(ConversationTrash);
    if (trash === undefined) throw new Error('there is a replica');
    let endings = 0;
    await fc.assert(
      fc.asyncProperty(rounds, async (given) => {
        await app.owner.query('DELETE FROM app.conversation WHERE org_id = $1', [user.orgId]);
        await app.owner.query(
          'INSERT INTO app.org_storage (org_id, limit_bytes) VALUES ($1, $2) ON CONFLICT (org_id) DO UPDATE SET used_bytes = 0, limit_bytes = $2',
          [user.orgId, LIMIT],
        );
        const ids = await Promise.all(
          Array.from({ length: CONVERSATIONS }, async () => (await app.conversation(user)).id),
        );
        for (const id of ids) await app.started(id);
        const acked = ids.map(() => 0);
        const run = async (
          { kind, of, bytes }: { kind: 'events' | 'again' | 'delete' | 'settle'; of: number; bytes: number },
          replica: number,
        ): Promise<void> => {
          const id = ids[of] as string;
          try {
            if (kind === 'delete') {
              const principal = {
                orgId: user.orgId,
                actor: { kind: 'user' as const, id: user.userId, label: 'A' },
                permissions: new Set(['conversation:delete'] as const),
              };
              await trash.deleteForGood(principal, id);
            } else if (kind === 'settle') {
              const drift = await inOrg(app.pool, user.orgId, (client) =>
                client.query<{ drift: number }>('SELECT app.settle_storage($1) AS drift', [user.orgId]),
              );
              expect(drift.rows[0]?.drift).toBe(0);
            } else {
              const from = kind === 'again' ? Math.max(1, acked[of] as number) : (acked[of] as number) + 1;
              const events = [0, 1].map((index) => ({
                producerSeq: from + index,
                event: thought(`${of} ${'x'.repeat(bytes)}`),
              }));
              const ack = await (ingests[replica % 2] as IngestService).ingest(
                { org: user.orgId, conversation: id, epoch: 1 },
                { epoch: 1, events },
              );
              acked[of] = Math.max(acked[of] as number, ack.ackedProducerSeq);
            }
          } catch (error) {
            expect(error).toBeInstanceOf(SlipwayError);
            expect(['storage.exhausted', 'resource.not-found', 'ingest.gap']).toContain((error as SlipwayError).code);
            if ((error as SlipwayError).code === 'storage.exhausted') endings += 1;
          }
        };
        for (const together of given) {
          await Promise.all(together.map(run));
          const { rows } = await app.owner.query<{
            used: number;
            granted: number;
            stored: number;
            least: number;
            reserve: number;
            counted: number;
          }>(
            `SELECT (SELECT used_bytes FROM app.org_storage WHERE org_id = $1)::int AS used, coalesce(sum(granted_bytes), 0)::int AS granted,
               coalesce(sum(m.log_bytes + m.blob_bytes + m.snapshot_bytes), 0)::int AS stored, coalesce(sum(c.log_bytes + c.blob_bytes + c.snapshot_bytes), 0)::int AS counted,
               coalesce(min(granted_bytes - m.log_bytes - m.blob_bytes - m.snapshot_bytes), 0)::int AS least, coalesce(max(reserve_bytes), 0)::int AS reserve
             FROM app.conversation c, app.measure_storage(c.org_id, c.id) m WHERE c.org_id = $1`,
            [user.orgId],
          );
          const now = rows[0];
          if (now === undefined) throw new Error('a sum answered no row');
          expect(now.used).toBe(now.granted);
          expect(now.counted).toBe(now.stored);
          expect(now.least).toBeGreaterThanOrEqual(0);
          expect(now.reserve).toBeLessThanOrEqual(4 * BLOCK);
          // One block a conversation for the event that says why it was paused.
          expect(now.used).toBeLessThanOrEqual(
            LIMIT + Math.min(RESERVE, CONVERSATIONS * 4 * BLOCK) + CONVERSATIONS * BLOCK,
          );
        }
      }),
      { numRuns: 25, examples: [[FILLS]] },
    );
    expect(endings).toBeGreaterThan(0);
  });
});
