import { randomUUID } from 'node:crypto';
import type { ConversationApp, User } from './conversation-app.js';

export type Part = Readonly<Record<string, unknown>>;

export const message = (text: string): Part => ({
  kind: 'MessageEvent',
  source: 'user',
  llm_message: { role: 'user', content: [{ type: 'text', text }] },
});
export const command = (text: string, id = randomUUID()): Part => ({
  kind: 'ActionEvent',
  id,
  tool_name: 'terminal',
  action: { kind: 'TerminalAction', command: text },
});
export const answer = (of: string, text: string, more: Part = {}): Part => ({
  kind: 'ObservationEvent',
  source: 'environment',
  action_id: of,
  observation: { kind: 'TerminalObservation', is_error: false, content: [{ type: 'text', text }], ...more },
});
export const state = (key: string, value: unknown): Part => ({ kind: 'ConversationStateUpdateEvent', key, value });
export const finished = (text: string): Part => ({
  kind: 'ActionEvent',
  tool_name: 'finish',
  action: { kind: 'FinishAction', message: text },
});

/** A log as rows of the database: what a sandbox wrote is taken as it is. @returns id of its conversation. */
export async function storeLog(
  app: ConversationApp,
  user: User,
  parts: readonly Part[],
  raw: (json: string) => string = (json) => json,
): Promise<string> {
  const { id } = await app.conversation(user);
  const events = parts.map((part, index): Part & { readonly id: unknown } => ({
    id: randomUUID(),
    timestamp: new Date(Date.parse('2026-01-01T00:00:00Z') + index * 1_000).toISOString(),
    source: 'agent',
    ...part,
  }));
  await app.owner.query(
    `INSERT INTO app.event (conversation_id, seq, org_id, epoch, event_id, kind, event)
     SELECT $1, n, $2, 1, i, k, e FROM unnest($3::json[], $4::uuid[], $5::text[]) WITH ORDINALITY AS u(e, i, k, n)`,
    [
      id,
      user.orgId,
      events.map((event) => raw(JSON.stringify(event))),
      events.map((event) => (typeof event.id === 'string' ? event.id : randomUUID())),
      events.map((event) => event['kind']),
    ],
  );
  await app.owner.query('UPDATE app.conversation SET head = $2 WHERE id = $1', [id, events.length]);
  return id;
}
