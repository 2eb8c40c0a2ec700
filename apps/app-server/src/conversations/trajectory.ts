import { Readable } from 'node:stream';
import type { SqlPool } from '@slipway/db/sql';
import { readHead, readLines } from '../log/events/event-log.queries.js';

const PAGE_LINES = 200;

/**
 * The log as it is now, as one JSON array, read page by page as it is taken. `null` when there is no such conversation.
 */
export async function trajectory(pool: SqlPool, orgId: string, conversationId: string): Promise<Readable | null> {
  const head = await readHead(pool, orgId, conversationId);
  if (head === null) return null;
  async function* parts(): AsyncGenerator<string> {
    yield '[';
    let after = 0;
    while (after < (head as number)) {
      const lines = (await readLines(pool, orgId, conversationId, { after, limit: PAGE_LINES })).filter(
        ({ seq }) => seq <= (head as number),
      );
      const last = lines.at(-1);
      if (last === undefined) throw new Error(`the log ends at ${after}, before its head ${head}`);
      yield `${after === 0 ? '' : ','}\n${lines.map(({ json }) => json).join(',\n')}`;
      after = last.seq;
    }
    yield '\n]\n';
  }
  return Readable.from(parts(), { objectMode: false });
}
