/**
 * Requests are gathered; a loop lists what is ready once a batch, gives each request another of them in shuffled order,
 * writes all in parallel under their versions, and waits half a second. As the allocator of Agones. A request whose
 * write lost against another replica joins the next batch.
 */
import { type MakeStrategy } from './claim-strategy.ts';
import { shuffle, takeVersion } from './list-and-patch-rows.ts';

const BATCH_WAIT_MS = 500;
const LARGEST_BATCH = 100;

interface Waiting {
  readonly claimId: string;
  readonly resolve: (slot: string) => void;
  readonly reject: (error: unknown) => void;
}

export const batchLoop: MakeStrategy = async ({ db }) => {
  const waiting: Waiting[] = [];
  const round = async (): Promise<void> => {
    const batch = waiting.splice(0, LARGEST_BATCH);
    if (batch.length === 0) return;
    const { rows } = await db.query<{ slot_id: string; version: number }>({
      name: 'batch_list',
      text: `SELECT slot_id, version FROM race.slot WHERE state = 'ready'`,
    });
    shuffle(rows);
    await Promise.all(
      batch.map(async (request, index) => {
        const slot = rows[index];
        try {
          if (slot !== undefined && (await takeVersion(db, request.claimId, slot.slot_id, slot.version)))
            request.resolve(slot.slot_id);
          else waiting.push(request);
        } catch (error) {
          request.reject(error);
        }
      }),
    );
  };
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(round);
  }, BATCH_WAIT_MS);
  return {
    claim: (claimId) => new Promise((resolve, reject) => waiting.push({ claimId, resolve, reject })),
    stop: async () => clearInterval(timer),
  };
};
