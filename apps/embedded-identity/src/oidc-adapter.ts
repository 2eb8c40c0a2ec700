import type { DatabaseSync } from 'node:sqlite';
import type { Adapter, AdapterPayload } from 'oidc-provider';

/**
 * oidc-provider's sessions, grants, codes and tokens in the store. Statements are synchronous and take microseconds.
 */
export class SqliteAdapter implements Adapter {
  constructor(
    private readonly store: DatabaseSync,
    private readonly model: string,
  ) {}

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    this.store
      .prepare(
        'INSERT INTO artifact (model, id, payload, uid, grant_id, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (model, id) DO UPDATE SET payload = ?3, uid = ?4, grant_id = ?5, expires_at = ?6',
      )
      .run(
        this.model,
        id,
        JSON.stringify(payload),
        payload.uid ?? null,
        payload.grantId ?? null,
        expiresIn === undefined ? null : now() + expiresIn,
      );
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return this.read('id', id);
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.read('uid', uid);
  }

  /** The device flow is not offered. */
  async findByUserCode(): Promise<undefined> {
    return undefined;
  }

  async consume(id: string): Promise<void> {
    this.store.prepare('UPDATE artifact SET consumed_at = ? WHERE model = ? AND id = ?').run(now(), this.model, id);
  }

  async destroy(id: string): Promise<void> {
    this.store.prepare('DELETE FROM artifact WHERE model = ? AND id = ?').run(this.model, id);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    this.store.prepare('DELETE FROM artifact WHERE model = ? AND grant_id = ?').run(this.model, grantId);
  }

  private read(column: 'id' | 'uid', value: string): AdapterPayload | undefined {
    const row = this.store
      .prepare(
        `SELECT payload, consumed_at FROM artifact WHERE model = ? AND ${column} = ? AND (expires_at IS NULL OR expires_at > ?)`,
      )
      .get(this.model, value, now()) as { payload: string; consumed_at: number | null } | undefined;
    if (row === undefined) return undefined;
    const payload = JSON.parse(row.payload) as AdapterPayload;
    return row.consumed_at === null ? payload : { ...payload, consumed: row.consumed_at };
  }
}

/** What is over is deleted. Cheap: by an index. */
export function sweepArtifacts(store: DatabaseSync): void {
  store.prepare('DELETE FROM artifact WHERE expires_at < ?').run(now());
}

/** Seconds since 1970. */
function now(): number {
  return Math.floor(Date.now() / 1000);
}
