import { randomUUID } from 'node:crypto';
import { asSystem, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { bytesText } from '@slipway/domain';

/** Organizations of a list. */
const LISTED = 20;
const UNITS = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 } as const;

export interface StorageOfOrg {
  readonly id: string;
  readonly slug: string;
  readonly used: number;
  /** Null: the installation's default. */
  readonly own: number | null;
  /** What holds; null: no limit. */
  readonly limit: number | null;
}

const SELECT = `SELECT o.id, o.slug, coalesce(s.used_bytes, 0) AS used, s.limit_bytes AS own, app.storage_limit(s.limit_bytes) AS limit
  FROM app.org o LEFT JOIN app.org_storage s ON s.org_id = o.id`;

const system = <T>(pool: SqlPool, work: (client: PoolClient) => Promise<T>): Promise<T> =>
  asSystem(pool, 'slipway_app_system', 'operator', work);

/** `200GiB` as bytes, `none` as 0, `default` as null. @throws Error with a sentence for anything else. */
export function readLimit(text: string): number | null {
  if (text === 'default') return null;
  if (text === 'none') return 0;
  const [, amount, unit] = /^(\d{1,6})(KiB|MiB|GiB|TiB)$/.exec(text) ?? [];
  if (amount === undefined || Number(amount) === 0)
    throw new Error(`${text} is no limit: give one as 500MiB or 200GiB, none, or default.`);
  return Number(amount) * UNITS[unit as keyof typeof UNITS];
}

/** The fullest first: by share of their limit, then by size. */
export function fullestOrgs(pool: SqlPool): Promise<StorageOfOrg[]> {
  return system(pool, async (client) => {
    const { rows } = await client.query<StorageOfOrg>(
      `SELECT * FROM (${SELECT}) t ORDER BY used::numeric / "limit" DESC NULLS LAST, used DESC, id LIMIT ${LISTED}`,
    );
    return rows;
  });
}

/** By slug or id. @throws Error when there is no such organization. */
export function storageOf(pool: SqlPool, org: string): Promise<StorageOfOrg> {
  return system(pool, (client) => read(client, org));
}

/** Holds from the next write on; its audit says so. @param bytes null: the installation's default; 0: no limit. */
export function setStorageLimit(pool: SqlPool, org: string, bytes: number | null): Promise<StorageOfOrg> {
  return system(pool, async (client) => {
    const before = await read(client, org);
    await client.query(
      'INSERT INTO app.org_storage (org_id, limit_bytes) VALUES ($1, $2) ON CONFLICT (org_id) DO UPDATE SET limit_bytes = excluded.limit_bytes',
      [before.id, bytes],
    );
    await client.query(
      `INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, actor_label, action, target, before, after)
       VALUES ($1, $2, 'system', 'operator', 'Operator', 'storage.limit', $2, $3, $4)`,
      [randomUUID(), before.id, JSON.stringify({ limitBytes: before.own }), JSON.stringify({ limitBytes: bytes })],
    );
    return read(client, before.id);
  });
}

export function storageLine({ id, slug, used, own, limit }: StorageOfOrg): string {
  const share = limit === null ? '' : ` (${Math.floor((used / limit) * 100)} %)`;
  return `${slug} ${id}: ${bytesText(used)} of ${limit === null ? 'no limit' : bytesText(limit)}${share}${own === null ? ', default' : ''}`;
}

async function read(client: PoolClient, org: string): Promise<StorageOfOrg> {
  const { rows } = await client.query<StorageOfOrg>(`${SELECT} WHERE o.id = $1 OR o.slug = $1 LIMIT 1`, [org]);
  if (rows[0] === undefined) throw new Error(`There is no organization ${org}.`);
  return rows[0];
}
