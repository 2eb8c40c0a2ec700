import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@slipway/testing';
import pg from 'pg';

const MIGRATION = new URL('../../../../prisma/app/migrations/20261126130000_outcomes/migration.sql', import.meta.url);
const ORG = 'org_before';

describe('an upgrade to outcomes', () => {
  let database: TestDatabase;
  let owner: pg.Client;
  beforeAll(async () => {
    database = await createTestDatabase();
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    await owner.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'before', 'B', 'company')`, [ORG]);
  });
  afterAll(async () => {
    await owner?.end();
    await database?.close();
  });

  it('counts what conversations cost before it, and asks after each pull request once, whatever is known of it', async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    for (const id of [one, two]) {
      await owner.query(
        `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model, repository) VALUES ($1, $2, 'usr', 'U', 't', 'm', 'https://git.test/Acme/Shop.git')`,
        [id, ORG],
      );
      for (const model of ['m', 'n'])
        await owner.query(
          `INSERT INTO app.usage_conversation VALUES ($1, '2026-11-22', 'usr', '', $3, $2, 'u', 1, 0, 3, 0, 1, 0.25, 0)`,
          [ORG, id, model],
        );
      await owner.query(
        `INSERT INTO app.pull_request (id, org_id, conversation_id, provider, host, repository, number, wanted, state, pushed_sha, created_at)
         VALUES (gen_random_uuid(), $1, $2, 'gitea', 'git.test', $3, 7, '{}', 'merged', 'abc', now() - $4 * interval '1 day')`,
        [ORG, id, id === one ? 'Acme/Shop' : 'acme/shop', id === one ? 2 : 1],
      );
    }
    for (const table of ['pull_request_work', 'pull_request_outcome', 'conversation_outcome'])
      await owner.query(`DELETE FROM app.${table}`);
    const text = await readFile(MIGRATION, 'utf8');
    const backfill = text.slice(text.lastIndexOf('DO $$'));
    // Also where it is run once more.
    for (let times = 0; times < 2; times += 1) await owner.query(`BEGIN; ${backfill} COMMIT`);
    const { rows: conversations } = await owner.query(
      'SELECT trim_scale(cost_usd)::text AS cost, prompt_tokens::int AS prompt, repository FROM app.conversation_outcome WHERE org_id = $1',
      [ORG],
    );
    expect(conversations).toEqual(Array(2).fill({ cost: '0.5', prompt: 6, repository: 'git.test/acme/shop' }));
    const { rows: pulls } = await owner.query(
      `SELECT conversation_id AS first, state, merged_at, pushed_shas, next_at <= now() + interval '1 day' AS due, (SELECT count(*)::int FROM app.pull_request_work) AS work FROM app.pull_request_outcome`,
    );
    expect(pulls).toEqual([{ first: one, state: 'open', merged_at: null, pushed_shas: ['abc'], due: true, work: 2 }]);
  });
});
