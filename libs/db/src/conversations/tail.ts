import type { PoolClient } from '../sql/index.js';

/** How far back what waits may begin: an answer of the model with its calls, and what came meanwhile. */
const TAIL = 300;

/** The last events of a log, in order. Texts that were put aside are not read: what waits says its ids itself. */
export async function readTail<Event>(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  head: number,
): Promise<Event[]> {
  const { rows } = await client.query<{ event: string }>({
    name: 'read-tail',
    text: 'SELECT event FROM app.read_events($1, $2, $3, $4, $5)',
    values: [orgId, conversationId, Math.max(0, head - TAIL), null, TAIL],
  });
  return rows.map(({ event }) => JSON.parse(event) as Event);
}
