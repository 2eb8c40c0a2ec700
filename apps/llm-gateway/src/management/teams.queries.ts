import { asSystem, type Columns, inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { type KeyInfo, keysOf } from './keys.queries.js';
import { dropLimits, type LimitFields, type Limits, readLimits, setLimits } from './limits.queries.js';

/** The limits of a budget that a team gives each member who has none of their own. */
const EACH = '';

export interface TeamChange {
  readonly alias?: string | null | undefined;
  readonly models?: readonly string[] | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly blocked?: boolean | undefined;
  readonly memberBudget?: number | null | undefined;
  readonly limits: LimitFields;
}

export interface TeamInfo extends Limits {
  readonly team_id: string;
  readonly team_alias: string | null;
  readonly models: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly blocked: boolean;
  readonly created_at: string;
  readonly team_member_budget: number | null;
}

export interface UserChange {
  readonly alias?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly limits: LimitFields;
}

export interface UserInfo extends Limits {
  readonly user_id: string;
  readonly team_id: string;
  readonly user_alias: string | null;
  readonly user_email: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: string;
}

/** Makes a team or changes it; what is absent stays. */
export function putTeam(pool: SqlPool, orgId: string, change: TeamChange, at: Date): Promise<TeamInfo> {
  return inOrg(pool, orgId, async (client) => {
    await client.query(
      `INSERT INTO gateway.team AS t (org_id, alias, models, metadata, blocked) VALUES ($1, $2::text, coalesce($3::text[], '{}'), coalesce($4::jsonb, '{}'), coalesce($5::boolean, false))
       ON CONFLICT (org_id) DO UPDATE SET alias = CASE WHEN $6 THEN $2 ELSE t.alias END, models = coalesce($3, t.models), metadata = coalesce($4, t.metadata), blocked = coalesce($5, t.blocked)`,
      [
        orgId,
        change.alias ?? null,
        change.models ?? null,
        change.metadata === undefined ? null : JSON.stringify(change.metadata),
        change.blocked ?? null,
        change.alias !== undefined,
      ],
    );
    await setLimits(client, orgId, { kind: 'org', subject: '', fields: change.limits });
    if (change.memberBudget !== undefined)
      await setLimits(client, orgId, {
        kind: 'member',
        subject: EACH,
        fields: { max_budget: change.memberBudget, budget_duration: '1mo' },
      });
    const team = await readTeam(client, orgId, at);
    if (team === null) throw new Error('a team that was stored is not there');
    return team;
  });
}

/** `null`: there is no such team. */
export function teamInfo(
  pool: SqlPool,
  orgId: string,
  at: Date,
): Promise<{ team: TeamInfo; members: UserInfo[]; keys: KeyInfo[] } | null> {
  return inOrg(pool, orgId, async (client) => {
    const team = await readTeam(client, orgId, at);
    return team === null
      ? null
      : { team, members: await readPeople(client, orgId, { userId: null, at, limit: 1_000, offset: 0 }) };
  }).then(async (found) =>
    found === null ? null : { ...found, keys: await keysOf(pool, orgId, { userId: null, at }) },
  );
}

/** By their ids, at most `limit`. */
export async function listTeams(pool: SqlPool, at: Date, limit: number): Promise<TeamInfo[]> {
  const ids = await asSystem(pool, 'slipway_gateway_system', 'the master key lists all teams', async (client) => {
    const { rows } = await client.query<Columns<'gateway.team', 'org_id'>>(
      'SELECT org_id FROM gateway.team ORDER BY org_id LIMIT $1',
      [limit],
    );
    return rows.map(({ org_id }) => org_id);
  });
  const teams: TeamInfo[] = [];
  for (const id of ids) {
    const team = await inOrg(pool, id, (client) => readTeam(client, id, at));
    if (team !== null) teams.push(team);
  }
  return teams;
}

/**
 * With their people, limits and keys; the ledger stays. Answers those that there were, and the ids of the keys that
 * ended.
 */
export function deleteTeams(pool: SqlPool, orgIds: readonly string[]): Promise<{ deleted: string[]; keys: string[] }> {
  return asSystem(pool, 'slipway_gateway_system', 'the master key ends teams', async (client) => {
    const { rows } = await client.query<Columns<'gateway.team', 'org_id'>>(
      'DELETE FROM gateway.team WHERE org_id = ANY ($1) RETURNING org_id',
      [orgIds],
    );
    const deleted = rows.map(({ org_id }) => org_id);
    await client.query('DELETE FROM gateway.person WHERE org_id = ANY ($1)', [deleted]);
    await client.query('DELETE FROM gateway.budget WHERE org_id = ANY ($1)', [deleted]);
    await client.query('DELETE FROM gateway.rate_limit WHERE org_id = ANY ($1)', [deleted]);
    const { rows: ended } = await client.query<Columns<'gateway.virtual_key', 'id'>>(
      'UPDATE gateway.virtual_key SET revoked_at = now() WHERE org_id = ANY ($1) AND (revoked_at IS NULL OR revoked_at > now()) RETURNING id',
      [deleted],
    );
    return { deleted, keys: ended.map(({ id }) => id) };
  });
}

/** Creates a user of an organization or changes them; what is absent stays. */
export function putUser(
  pool: SqlPool,
  orgId: string,
  { userId, change, at }: { readonly userId: string; readonly change: UserChange; readonly at: Date },
): Promise<UserInfo> {
  return inOrg(pool, orgId, async (client) => {
    await client.query(
      `INSERT INTO gateway.person AS p (org_id, user_id, alias, email, metadata) VALUES ($1, $2, $3::text, $4::text, coalesce($5::jsonb, '{}'))
       ON CONFLICT (org_id, user_id) DO UPDATE SET alias = CASE WHEN $6 THEN $3 ELSE p.alias END, email = CASE WHEN $7 THEN $4 ELSE p.email END, metadata = coalesce($5, p.metadata)`,
      [
        orgId,
        userId,
        change.alias ?? null,
        change.email ?? null,
        change.metadata === undefined ? null : JSON.stringify(change.metadata),
        change.alias !== undefined,
        change.email !== undefined,
      ],
    );
    await setLimits(client, orgId, { kind: 'member', subject: userId, fields: change.limits });
    const [user] = await readPeople(client, orgId, { userId, at, limit: 1, offset: 0 });
    if (user === undefined) throw new Error('a stored user is missing');
    return user;
  });
}

/** Organizations of a user, by their ids. */
export function orgsOfUser(pool: SqlPool, userId: string): Promise<string[]> {
  return asSystem(pool, 'slipway_gateway_system', 'the master key names a user and no team', async (client) => {
    const { rows } = await client.query<Columns<'gateway.person', 'org_id'>>(
      'SELECT org_id FROM gateway.person WHERE user_id = $1 ORDER BY org_id LIMIT 100',
      [userId],
    );
    return rows.map(({ org_id }) => org_id);
  });
}

export interface PeoplePage {
  readonly userId: string | null;
  readonly at: Date;
  readonly limit: number;
  readonly offset: number;
}

export function people(pool: SqlPool, orgId: string, { userId, at, limit, offset }: PeoplePage): Promise<UserInfo[]> {
  return inOrg(pool, orgId, (client) => readPeople(client, orgId, { userId, at, limit, offset }));
}

export function countPeople(pool: SqlPool, orgId: string): Promise<number> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<{ n: number }>('SELECT count(*) AS n FROM gateway.person WHERE org_id = $1', [
      orgId,
    ]);
    return rows[0]?.n ?? 0;
  });
}

/** With their limits and keys; the ledger stays. Answers how many there were, and the ids of the keys that ended. */
export function deletePeople(
  pool: SqlPool,
  orgId: string,
  userIds: readonly string[],
): Promise<{ deleted: number; keys: string[] }> {
  return inOrg(pool, orgId, async (client) => {
    const { rowCount } = await client.query('DELETE FROM gateway.person WHERE org_id = $1 AND user_id = ANY ($2)', [
      orgId,
      userIds,
    ]);
    await dropLimits(client, orgId, 'member', userIds);
    const { rows } = await client.query<Columns<'gateway.virtual_key', 'id'>>(
      'UPDATE gateway.virtual_key SET revoked_at = now() WHERE org_id = $1 AND user_id = ANY ($2) AND (revoked_at IS NULL OR revoked_at > now()) RETURNING id',
      [orgId, userIds],
    );
    return { deleted: rowCount ?? 0, keys: rows.map(({ id }) => id) };
  });
}

async function readTeam(client: PoolClient, orgId: string, at: Date): Promise<TeamInfo | null> {
  const { rows } = await client.query<
    Columns<
      'gateway.team',
      'alias' | 'models' | 'metadata' | 'blocked' | 'created_at',
      { metadata: Record<string, unknown> }
    > & { each: string | null }
  >(
    `SELECT t.alias, t.models, t.metadata, t.blocked, t.created_at,
       (SELECT b.limit_usd FROM gateway.budget b WHERE b.org_id = t.org_id AND b.kind = 'member' AND b.subject = '') AS each
     FROM gateway.team t WHERE t.org_id = $1`,
    [orgId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  return {
    team_id: orgId,
    team_alias: row.alias,
    models: row.models,
    metadata: row.metadata,
    blocked: row.blocked,
    created_at: row.created_at.toISOString(),
    team_member_budget: row.each === null ? null : Number(row.each),
    ...(await readLimits(client, orgId, { kind: 'org', subject: '', at })),
  };
}

async function readPeople(
  client: PoolClient,
  orgId: string,
  { userId, at, limit, offset }: PeoplePage,
): Promise<UserInfo[]> {
  const { rows } = await client.query<
    Columns<
      'gateway.person',
      'user_id' | 'alias' | 'email' | 'metadata' | 'created_at',
      { metadata: Record<string, unknown> }
    >
  >(
    'SELECT user_id, alias, email, metadata, created_at FROM gateway.person WHERE org_id = $1 AND ($2::text IS NULL OR user_id = $2) ORDER BY user_id LIMIT $3 OFFSET $4',
    [orgId, userId, limit, offset],
  );
  const found: UserInfo[] = [];
  for (const row of rows) {
    found.push({
      user_id: row.user_id,
      team_id: orgId,
      user_alias: row.alias,
      user_email: row.email,
      metadata: row.metadata,
      created_at: row.created_at.toISOString(),
      ...(await readLimits(client, orgId, { kind: 'member', subject: row.user_id, at })),
    });
  }
  return found;
}
