import { afterAll, beforeAll } from '@jest/globals';
import { ConversationApp, executionStatus, riskyCommand, type User } from '../../testing/conversation-app.js';

export let app: ConversationApp;
export let ada: User;
export const answer = (user: User, id: string, body: object) =>
  app.http<{ code?: string }>(user, 'POST', app.path(user, id, '/confirmation'), body);
export const audits = async (id: string) =>
  (await app.owner.query<{ action: string }>('SELECT action FROM app.audit_entry WHERE target = $1', [id])).rows.map(
    (row) => row.action,
  );
export const settings = (values: object) =>
  app.owner.query('UPDATE app.org SET settings = settings || $2::jsonb WHERE id = $1', [
    ada.orgId,
    JSON.stringify(values),
  ]);

/** A conversation whose agent waits; `sandbox` is up and has it, or there is none. */
export async function waiting(sandbox?: Parameters<ConversationApp['started']>[2]) {
  const { id } = await app.conversation(ada);
  await app.started(id, 1, sandbox);
  const asked = riskyCommand();
  await app.ingest(ada, id, [
    { producerSeq: 1, event: executionStatus('running') },
    { producerSeq: 2, event: asked },
    { producerSeq: 3, event: executionStatus('waiting_for_confirmation') },
  ]);
  return { id, actionIds: [asked.id] };
}

/** An organization with a user, whose agents wait. */
export function setUpConfirmation(): void {
  beforeAll(async () => {
    app = await ConversationApp.start();
    ada = await app.user('Ada');
  });
  afterAll(() => app?.close());
}
