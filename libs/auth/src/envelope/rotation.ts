import { asSystem, type SqlPool } from '@slipway/db/sql';
import type { SecretBox } from '../secret-box/secret-box.js';
import { wrapContext } from './data-key.queries.js';
import { type Envelope, NEWEST_FRESH_MS } from './envelope.js';
import { DATA_KEY_COLUMNS, type DataKeyColumn, type MasterKeyColumn } from './sealed-columns.js';

/**
 * Rows that are read at a time, in a transaction of their own: services that write beside it wait for no longer than
 * one row's update.
 */
const BATCH = 200;
/**
 * A data key that was replaced is kept at least this long, so that nothing is sealed under it any more when it goes.
 * Milliseconds.
 */
const KEPT_MS = 60 * NEWEST_FRESH_MS;

/** Before every id. */
const NO_UUID = '00000000-0000-0000-0000-000000000000';

/** What came of one pass. `unopened` names places, never values: what no known key opens, and was left as it is. */
export interface Rotated {
  readonly renewed: number;
  readonly unopened: readonly string[];
}

/**
 * Wraps every data key with the present master key. Safe to repeat, to end at any point, and beside running services.
 */
export async function rewrapDataKeys(pool: SqlPool, box: SecretBox): Promise<Rotated> {
  const unopened: string[] = [];
  let renewed = 0;
  let after: [string, number] = ['', 0];
  for (;;) {
    const { rows } = await asSystem(pool, 'slipway_app_system', 'rotate master key', (client) =>
      client.query<{ org_id: string; version: number; wrapped: Buffer }>(
        `SELECT org_id, version, wrapped FROM app.org_data_key WHERE master_id <> $1 AND (org_id, version) > ($2, $3) ORDER BY org_id, version LIMIT ${BATCH}`,
        [box.id, ...after],
      ),
    );
    for (const { org_id, version, wrapped } of rows) {
      const fresh = renew(box, wrapped, wrapContext(org_id, version));
      if (fresh === 'unopened') unopened.push(`app.org_data_key ${org_id} ${version}`);
      else
        renewed += await changed(pool, 'slipway_app_system', {
          text: 'UPDATE app.org_data_key SET wrapped = $4, master_id = $5 WHERE org_id = $1 AND version = $2 AND wrapped = $3',
          values: [org_id, version, wrapped, fresh ?? wrapped, box.id],
        });
      after = [org_id, version];
    }
    if (rows.length < BATCH) return { renewed, unopened };
  }
}

/**
 * Puts every value of the column under the present master key. As `rewrapDataKeys`; a value that a service writes
 * meanwhile is left to that service, which has the same key.
 */
export async function renewMasterColumn(
  pool: SqlPool,
  box: SecretBox,
  { database, table, column, key, context }: MasterKeyColumn,
): Promise<Rotated> {
  const role = database === 'app' ? 'slipway_app_system' : 'slipway_runtime_system';
  const names = key.map(({ name }) => name).join(', ');
  const unopened: string[] = [];
  let renewed = 0;
  let after: string[] = key.map(({ type }) => (type === 'uuid' ? NO_UUID : ''));
  for (;;) {
    const { rows } = await asSystem(pool, role, 'rotate master key', (client) =>
      client.query<{ key: string[]; sealed: Buffer }>(
        `SELECT ARRAY[${key.map(({ name }) => `${name}::text`).join(', ')}] AS key, ${column} AS sealed FROM ${table}
         WHERE length(${column}) > 0 AND (${names}) > (${key.map(({ type }, index) => `$${index + 1}::${type}`).join(', ')}) ORDER BY ${names} LIMIT ${BATCH}`,
        after,
      ),
    );
    for (const row of rows) {
      const fresh = renew(box, row.sealed, context(row.key));
      after = row.key;
      if (fresh === 'unopened') unopened.push(`${table}.${column} ${row.key.join(' ')}`);
      else if (fresh !== null)
        renewed += await changed(pool, role, {
          text: `UPDATE ${table} SET ${column} = $1 WHERE ${column} = $2 AND ${key.map(({ name, type }, index) => `${name} = $${index + 3}::${type}`).join(' AND ')}`,
          values: [fresh, row.sealed, ...row.key],
        });
    }
    if (rows.length < BATCH) return { renewed, unopened };
  }
}

/** Gives a new data key to every organization whose newest was made before `olderThan`. @returns how many. */
export async function rotateDataKeys(pool: SqlPool, envelope: Envelope, olderThan: Date): Promise<number> {
  let count = 0;
  let after = '';
  for (;;) {
    const { rows } = await asSystem(pool, 'slipway_app_system', 'rotate data keys', (client) =>
      client.query<{ org_id: string }>(
        `SELECT org_id FROM app.org_data_key WHERE org_id > $1 GROUP BY org_id HAVING max(created_at) < $2 ORDER BY org_id LIMIT ${BATCH}`,
        [after, olderThan],
      ),
    );
    for (const { org_id } of rows) {
      await envelope.rotate(org_id);
      after = org_id;
      count += 1;
    }
    if (rows.length < BATCH) return count;
  }
}

/** Seals every value again that is under a data key that was replaced. As `rewrapDataKeys`. */
export async function renewValues(
  pool: SqlPool,
  envelope: Envelope,
  { table, column, reads, context }: DataKeyColumn,
): Promise<Rotated> {
  const unopened: string[] = [];
  let renewed = 0;
  let after = '';
  for (;;) {
    const { rows } = await asSystem(pool, 'slipway_app_system', 'rotate data keys', (client) =>
      client.query<Record<string, unknown> & { id: string; org_id: string; key_version: number; sealed: Buffer }>(
        `SELECT t.id, t.org_id, t.key_version, t.${column} AS sealed${reads.map((name) => `, t.${name}`).join('')} FROM ${table} t
         WHERE t.id > $1 AND t.${column} IS NOT NULL AND EXISTS (SELECT 1 FROM app.org_data_key k WHERE k.org_id = t.org_id AND k.version > t.key_version)
         ORDER BY t.id LIMIT ${BATCH}`,
        [after],
      ),
    );
    for (const row of rows) {
      after = row.id;
      const text = await envelope
        .open(row.org_id, { bytes: row.sealed, keyVersion: row.key_version }, context(row))
        .catch(() => null);
      if (text === null) {
        unopened.push(`${table} ${row.id}`);
        continue;
      }
      const fresh = await envelope.seal(row.org_id, text, context(row));
      renewed += await changed(pool, 'slipway_app_system', {
        text: `UPDATE ${table} SET ${column} = $3, key_version = $4 WHERE id = $1 AND ${column} = $2 AND $4::int > key_version`,
        values: [row.id, row.sealed, fresh.bytes, fresh.keyVersion],
      });
    }
    if (rows.length < BATCH) return { renewed, unopened };
  }
}

/** Deletes data keys that were replaced long enough ago and that no value is under. @returns how many. */
export async function dropDataKeys(pool: SqlPool, now: Date): Promise<number> {
  return changed(pool, 'slipway_app_system', {
    text: `DELETE FROM app.org_data_key k
           WHERE EXISTS (SELECT 1 FROM app.org_data_key n WHERE n.org_id = k.org_id AND n.version > k.version AND n.created_at < $1)
             AND ${DATA_KEY_COLUMNS.map(({ table }) => `NOT EXISTS (SELECT 1 FROM ${table} t WHERE t.org_id = k.org_id AND t.key_version = k.version)`).join(' AND ')}`,
    values: [new Date(now.getTime() - KEPT_MS)],
  });
}

function renew(box: SecretBox, sealed: Buffer, context: string): Buffer | null | 'unopened' {
  try {
    return box.renew(sealed, context);
  } catch {
    return 'unopened';
  }
}

async function changed(
  pool: SqlPool,
  role: 'slipway_app_system' | 'slipway_runtime_system',
  query: { text: string; values: unknown[] },
): Promise<number> {
  return asSystem(pool, role, 'rotate keys', async (client) => (await client.query(query)).rowCount ?? 0);
}
