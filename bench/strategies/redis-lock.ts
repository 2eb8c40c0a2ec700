/**
 * Ten candidates by one query, then a Redis lock of ten seconds on one after the other; who gets a lock writes the row.
 * As Daytona gives out warm sandboxes, but for what follows when all ten are locked: there a cold start, here the next
 * ten, so that the work is the same.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { LOOK_AGAIN_MS, type MakeStrategy } from './claim-strategy.ts';

export const redisLock: MakeStrategy = async ({ db, redisPort }) => {
  if (redisPort === null) throw new Error('there is no redis-server');
  const redis = await Redis.open(redisPort);
  return {
    claim: async (claimId) => {
      for (;;) {
        const { rows } = await db.query<{ slot_id: string }>({
          name: 'redis_candidates',
          text: `SELECT slot_id FROM race.slot WHERE state = 'ready' ORDER BY warmed_at DESC LIMIT 10`,
        });
        for (const { slot_id } of rows) {
          if (!(await redis.lock(slot_id))) continue;
          // The lock may be older than the list: the row decides.
          const taken = await db.query({
            name: 'redis_take',
            text: `WITH taken AS (UPDATE race.slot SET state = 'bound', claim_id = $1, version = version + 1 WHERE slot_id = $2 AND state = 'ready' RETURNING slot_id)
              INSERT INTO race.claim (claim_id, slot_id) SELECT $1, slot_id FROM taken RETURNING slot_id`,
            values: [claimId, slot_id],
          });
          if (taken.rowCount === 1) return slot_id;
        }
        if (rows.length === 0) await wait(LOOK_AGAIN_MS);
      }
    },
    stop: async () => redis.close(),
  };
};

/** SET NX EX and nothing else; answers come in the order of the questions. */
class Redis {
  private readonly waiting: ((isSet: boolean) => void)[] = [];
  private rest = '';

  private readonly socket: Socket;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (part) => {
      const lines = (this.rest + part.toString('latin1')).split('\r\n');
      this.rest = lines.pop() ?? '';
      for (const line of lines) this.waiting.shift()?.(line === '+OK');
    });
  }

  static open(port: number): Promise<Redis> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new Redis(socket)));
      socket.once('error', reject);
    });
  }

  lock(slot: string): Promise<boolean> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      const words = ['SET', `lock:${slot}`, '1', 'NX', 'EX', '10'];
      this.socket.write(`*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`);
    });
  }

  close(): void {
    this.socket.destroy();
  }
}
