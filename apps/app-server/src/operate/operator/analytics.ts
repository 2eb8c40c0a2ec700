import { type StoredEvent, wireEvent } from '@slipway/analytics';
import { readDefinitions } from '@slipway/analytics/flags';
import { DEFAULT_FLAGS, FLAG_KEYS, FLAGS } from '@slipway/contracts/operate';
import { asSystem, type Columns, type SqlPool } from '@slipway/db/sql';

/** Events of a list. */
const LISTED = 1_000;

/**
 * What waits to be sent, as it will be: a JSON object a line, the oldest first. @param org slug or id; `undefined`:
 * all. @throws Error when there is no such organization.
 */
export async function waitingEvents(
  pool: SqlPool,
  secret: string | undefined,
  org: string | undefined,
): Promise<string> {
  const events = await asSystem(pool, 'slipway_app_system', 'operator', async (client) => {
    const { rows: orgs } = await client.query<Columns<'app.org', 'id'>>(
      'SELECT id FROM app.org WHERE id = $1 OR slug = $1 LIMIT 1',
      [org ?? ''],
    );
    if (org !== undefined && orgs[0] === undefined) throw new Error(`There is no organization ${org}.`);
    const { rows } = await client.query<StoredEvent>(
      `SELECT id, org_id AS "orgId", user_id AS "userId", name, at, properties FROM app.analytics_event
       WHERE $1::text IS NULL OR org_id = $1 ORDER BY made_at, id LIMIT ${LISTED}`,
      [orgs[0]?.id ?? null],
    );
    return rows;
  });
  if (events.length === 0) return 'Nothing waits to be sent.';
  return events
    .map((stored) => {
      const { distinctId, organization, ...event } = wireEvent(secret ?? '', stored);
      // Without the secret the pseudonyms are unknown.
      return JSON.stringify(secret === undefined ? event : { ...event, distinctId, organization });
    })
    .join('\n');
}

/** Each flag with what holds. @param values FLAGS; `null`: PostHog decides. */
export async function flagLines(
  pool: SqlPool,
  values: Readonly<Record<string, string>> | null,
  now: Date,
): Promise<string> {
  const stored = values === null ? await readDefinitions(pool) : null;
  const known = new Map(stored?.definitions.flags.map((flag) => [flag.key, flag.active !== false]));
  const source = (key: (typeof FLAG_KEYS)[number]): string => {
    if (values !== null) return key in values ? `${values[key]}, set by FLAGS` : `${DEFAULT_FLAGS[key]}, the default`;
    if (!known.has(key)) return `${DEFAULT_FLAGS[key]}, the default: PostHog has no such flag`;
    return known.get(key) === true
      ? 'decided by PostHog for each user'
      : `${DEFAULT_FLAGS[key]}, the default: switched off in PostHog`;
  };
  const age =
    stored === null
      ? 'never read'
      : `read ${Math.max(0, Math.round((now.getTime() - stored.fetchedAt.getTime()) / 1_000))} s ago`;
  return [
    values === null ? `Provider: posthog, definitions ${age}` : 'Provider: static',
    ...FLAG_KEYS.map(
      (key) =>
        `${key}: ${source(key)} (of ${FLAGS[key].values.join(', ')}; default ${DEFAULT_FLAGS[key]}; owner ${FLAGS[key].owner}; ends ${FLAGS[key].ends})`,
    ),
  ].join('\n');
}
