import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inOrg } from '@slipway/db/sql';
import { type Harness, ORG, openHarness } from '../testing/harness.js';
import { removeUnsentAttachments } from './unsent-attachments.queries.js';

describe('files that were never sent', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await openHarness();
  });
  afterAll(() => harness.close());

  const attach = (conversation: string, expires: string | null, message: string | null = null): Promise<unknown> =>
    inOrg(harness.pool, ORG, async (client) => {
      await client.query(
        `INSERT INTO app.attachment (id, org_id, conversation_id, name, media_type, bytes, content, created_by, created_by_label, message_id, expires_at)
         VALUES (gen_random_uuid(), $1, $2, 'n', 't', 100, decode(repeat('00', 100), 'hex'), 'u', 'u', $3, now() + $4::interval)`,
        [ORG, conversation, message, expires],
      );
      await client.query(`SELECT app.count_storage($1, $2, 0, 100, 0, 'work')`, [ORG, conversation]);
    });
  const left = (conversation: string): Promise<{ files: number; bytes: number; measured: number }> =>
    inOrg(harness.pool, ORG, async (client) => {
      const { rows } = await client.query<{ files: number; bytes: number; measured: number }>(
        `SELECT (SELECT count(*)::int FROM app.attachment WHERE conversation_id = $1) AS files,
           (SELECT blob_bytes::int FROM app.conversation WHERE id = $1) AS bytes, (SELECT blob_bytes::int FROM app.measure_storage($2, $1)) AS measured`,
        [conversation, ORG],
      );
      return rows[0] ?? { files: -1, bytes: -1, measured: -1 };
    });

  it('are deleted in time with their storage; those that were sent, or may still be, stay', async () => {
    const [one, other] = [await harness.create(), await harness.create()];
    await attach(one.id, '-1 second');
    await attach(one.id, '-1 second');
    await attach(one.id, '1 hour');
    await attach(one.id, null, randomUUID());
    await attach(other.id, '-1 second');
    expect(await removeUnsentAttachments(harness.pool)).toBe(3);
    expect(await left(one.id)).toEqual({ files: 2, bytes: 200, measured: 200 });
    expect(await left(other.id)).toEqual({ files: 0, bytes: 0, measured: 0 });
    expect(await removeUnsentAttachments(harness.pool)).toBe(0);
  });

  it('for a task that was never given are deleted in time', async () => {
    const pending = (name: string, expires: string): Promise<unknown> =>
      inOrg(harness.pool, ORG, (client) =>
        client.query(
          `INSERT INTO app.attachment (id, org_id, name, media_type, bytes, content, created_by, created_by_label, expires_at)
           VALUES (gen_random_uuid(), $1, $2, 't', 1, '\\x00', 'u', 'u', now() + $3::interval)`,
          [ORG, name, expires],
        ),
      );
    await pending('gone', '-1 second');
    await pending('kept', '1 hour');
    expect(await removeUnsentAttachments(harness.pool)).toBe(1);
    const names = await inOrg(harness.pool, ORG, async (client) =>
      (await client.query('SELECT name FROM app.attachment WHERE conversation_id IS NULL')).rows.map(
        (row: { name: string }) => row.name,
      ),
    );
    expect(names).toEqual(['kept']);
  });
});
