import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConversationEvent } from '@slipway/contracts/events';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../test-database.js';
import { seedTwoOrgs } from './two-orgs.js';

describe('the scenario of two organizations', () => {
  let database: TestDatabase;
  let owner: pg.Pool;
  beforeAll(async () => {
    database = await createTestDatabase();
    owner = new pg.Pool({ connectionString: database.ownerUrl, max: 1 });
  });
  afterAll(async () => {
    await owner?.end();
    await database?.close();
  });

  it('has ten people in all roles, a thousand conversations that want no sandbox, and logs that are whole and can be read', async () => {
    const { orgs } = await seedTwoOrgs(owner);
    expect(
      orgs.map(({ members, conversationIds }) => [members.map(({ role }) => role), conversationIds.length]),
    ).toEqual([
      [['owner', 'admin', 'member', 'member', 'viewer'], 500],
      [['owner', 'admin', 'member', 'member', 'viewer'], 500],
    ]);
    const { rows: counts } = await owner.query(
      `SELECT (SELECT count(*)::int FROM app.membership) AS memberships, (SELECT count(*)::int FROM app.conversation WHERE desired = 'run') AS wanted,
         (SELECT count(*)::int FROM app.conversation c WHERE c.head = (SELECT count(*) FROM app.event e WHERE e.conversation_id = c.id AND e.org_id = c.org_id)) AS whole,
         (SELECT count(DISTINCT created_by)::int FROM app.conversation) AS writers`,
    );
    expect(counts).toEqual([{ memberships: 20, wanted: 0, whole: 1_000, writers: 8 }]);
    const { rows: events } = await owner.query<{ event: unknown }>(
      'SELECT event FROM app.event ORDER BY conversation_id, seq LIMIT 12',
    );
    expect(events.map(({ event }) => ConversationEvent.safeParse(event).success)).toEqual(Array(12).fill(true));
  });
});
