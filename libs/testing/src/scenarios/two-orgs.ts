import type { Role } from '@slipway/contracts/organizations';
import type pg from 'pg';

export interface SeededUser {
  readonly userId: string;
  /** A session that holds for 30 days; its cookie is `SessionCookie.sign(sessionId, sessionExpiresAt)`. */
  readonly sessionId: string;
  readonly name: string;
  /** Confirmed. */
  readonly email: string;
  /** In the organization that they are seeded in. */
  readonly role: Role;
  readonly personalOrgId: string;
}

export interface SeededOrg {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  /** An owner, an admin, two members and a viewer, in this order. */
  readonly members: readonly SeededUser[];
  /** Ids of its conversations, newest first, shared out among owner, admin and members in turn. */
  readonly conversationIds: readonly string[];
}

export interface TwoOrgs {
  readonly orgs: readonly [SeededOrg, SeededOrg];
  readonly sessionExpiresAt: Date;
}

const ROLES_IN_TURN: readonly Role[] = ['owner', 'admin', 'member', 'member', 'viewer'];
const NAMES: readonly (readonly string[])[] = [
  ['Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'Katherine Johnson', 'Niklaus Wirth'],
  ['Barbara Liskov', 'Edsger Dijkstra', 'Margaret Hamilton', 'Ken Thompson', 'Frances Allen'],
];
const COMPANIES = ['Analytical Engines', 'Blue Harbour'] as const;

/** A UUIDv7's shape made of any text: the same text is the same id. */
const uuidOf = (text: string): string =>
  `(SELECT (substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-7' || substr(h, 14, 3) || '-8' || substr(h, 18, 3) || '-' || substr(h, 21, 12))::uuid FROM md5(${text}) h)`;

/**
 * Two companies with five members each, every one with a personal organization of their own, and idle conversations,
 * each with a log that can be read. None of them needs a sandbox. Takes well under a second for the default size: rows
 * are made by the database.
 *
 * @param owner connected as the owner of the tables, on an empty database.
 * @param options.conversations of both together [1,000]; `events` of each [6, at least 1].
 */
export async function seedTwoOrgs(
  owner: Pick<pg.Pool, 'query'>,
  options: { conversations?: number; events?: number } = {},
): Promise<TwoOrgs> {
  const { conversations = 1_000, events = 6 } = options;
  const sessionExpiresAt = new Date(Math.floor(Date.now() / 1000) * 1000 + 30 * 86_400_000);
  const orgs = COMPANIES.map((name, index) => seededOrg(name, index));
  await owner.query(
    `INSERT INTO app.org (id, slug, name, kind) SELECT x.id, x.slug, x.name, x.kind FROM jsonb_to_recordset($1) AS x(id text, slug text, name text, kind text)`,
    [
      JSON.stringify(
        orgs.flatMap((org) => [
          { ...org, kind: 'company' },
          ...org.members.map((user) => ({
            id: user.personalOrgId,
            slug: user.userId.replaceAll('_', '-'),
            name: user.name,
            kind: 'personal',
          })),
        ]),
      ),
    ],
  );
  const people = orgs.flatMap((org) => org.members.map((user, at) => ({ ...user, org: org.id, at })));
  await owner.query(
    `WITH person AS (SELECT * FROM jsonb_to_recordset($1) AS x("userId" text, "sessionId" text, name text, email text, role text, "personalOrgId" text, org text, at int)),
       account AS (INSERT INTO app.user_account (id, issuer, subject, name, email, email_verified) SELECT "userId", 'seed', "userId", name, email, true FROM person),
       signed_in AS (INSERT INTO app.session (id, user_id, tokens, access_expires_at, expires_at) SELECT "sessionId", "userId", '\\x00', $2, $2 FROM person),
       own AS (INSERT INTO app.membership (org_id, user_id, role) SELECT "personalOrgId", "userId", 'owner' FROM person)
     INSERT INTO app.membership (org_id, user_id, role, created_at) SELECT org, "userId", role, now() + at * interval '1 second' - interval '1 day' FROM person`,
    [JSON.stringify(people), sessionExpiresAt],
  );
  const { rows } = await owner.query<{ id: string; org_id: string }>(
    `WITH writer AS (
       SELECT org, "userId", name, at FROM jsonb_to_recordset($1) AS x(org text, "userId" text, name text, role text, at int) WHERE role <> 'viewer'
     ), made AS (
       INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, repository, branch, model, status, execution_status, sandbox_status, start_status, desired, attempt, epoch,
         acked, head, cost_usd, prompt_tokens, completion_tokens, created_at, updated_at)
       SELECT ${uuidOf(`w.org || ' conversation ' || n`)}, w.org, w."userId", w.name, 'Task ' || n, 'https://git.example/' || w.org || '/repo-' || n % 7, 'main', 'slipway-demo',
         (ARRAY['finished', 'waiting', 'paused', 'failed', 'stopped'])[1 + n % 5], (ARRAY['finished', 'idle', 'paused', 'error', 'paused'])[1 + n % 5],
         CASE n % 5 WHEN 3 THEN 'ERROR' ELSE 'PAUSED' END, 'READY', 'rest', 1, 1, $3, $3, n * 0.0001, n * 100, n * 10,
         now() - n * interval '1 minute', now() - n * interval '30 seconds'
       FROM generate_series(1, $2::int) n
       JOIN writer w ON w.org = CASE n % 2 WHEN 1 THEN $4 ELSE $5 END AND w.at = (n / 2) % 4
       RETURNING id, org_id, created_by_label, created_at
     ), logged AS (
       INSERT INTO app.event (conversation_id, seq, org_id, epoch, producer_seq, event_id, kind, event, created_at)
       SELECT m.id, s, m.org_id, 1, s, e.id, 'MessageEvent',
         json_build_object('id', e.id, 'timestamp', to_char(m.created_at AT TIME ZONE 'UTC' + s * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'kind', 'MessageEvent',
           'source', CASE s % 2 WHEN 1 THEN 'user' ELSE 'agent' END,
           'llm_message', json_build_object('role', CASE s % 2 WHEN 1 THEN 'user' ELSE 'assistant' END,
             'content', json_build_array(json_build_object('type', 'text', 'text', 'Line ' || s || ' of ' || m.org_id)))),
         m.created_at + s * interval '1 second'
       FROM made m, generate_series(1, $3::bigint) s, LATERAL (SELECT ${uuidOf(`m.id || ' event ' || s`)} AS id) e
     )
     SELECT id, org_id FROM made ORDER BY created_at DESC, id DESC`,
    [JSON.stringify(people), conversations, events, orgs[0]?.id, orgs[1]?.id],
  );
  const seeded = orgs.map((org) => ({
    ...org,
    conversationIds: rows.filter((row) => row.org_id === org.id).map(({ id }) => id),
  }));
  const [first, second] = seeded as unknown as readonly [SeededOrg, SeededOrg];
  return { orgs: [first, second], sessionExpiresAt };
}

function seededOrg(name: string, index: number): Omit<SeededOrg, 'conversationIds'> {
  const slug = name.toLowerCase().replaceAll(' ', '-');
  return {
    id: `org_seed${index + 1}`,
    slug,
    name,
    members: ROLES_IN_TURN.map((role, at) => {
      const user = (NAMES[index] as readonly string[])[at] as string;
      const id = `seed${index + 1}${at + 1}`;
      return {
        userId: `usr_${id}`,
        sessionId: `ses_${id}`,
        name: user,
        email: `${user.toLowerCase().replace(' ', '.')}@${slug}.example`,
        role,
        personalOrgId: `org_${id}`,
      };
    }),
  };
}
