import { afterAll, beforeAll, expect, jest } from '@jest/globals';
import { Outcomes } from '@slipway/contracts/spending';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

jest.setTimeout(180_000);

export interface MadeConversation {
  readonly id: string;
  readonly repository: string;
  readonly user: string;
  readonly model: string;
  readonly source: string | null;
  readonly cost: string;
  readonly failedCalls: string;
  readonly failedTurns: string;
  readonly startMs: number | null;
  readonly approvals: readonly number[];
}
export interface MadePull {
  readonly state: 'open' | 'closed' | 'merged';
  readonly humanCommits: number | null;
  readonly watchedDays: number;
  readonly reverted: boolean;
  readonly edited: boolean;
  readonly read: boolean;
  readonly asking: boolean;
  readonly conversations: readonly number[];
}

export let app: ConversationApp;
export let ada: User;
export let other: User;
export const path = (query = '', user = ada): string => `/api/v1/orgs/${user.orgId}/outcomes${query}`;
export const SPAN = 'from=2026-11-01&to=2026-11-30';
export const clear = async (): Promise<void> => {
  for (const table of ['pull_request_work', 'pull_request_outcome', 'conversation_outcome'])
    await app.owner.query(`DELETE FROM app.${table}`);
};
export const conversation = (orgId: string, made: MadeConversation, at = '2026-11-10T10:00:00Z'): Promise<unknown> =>
  app.owner.query(
    `INSERT INTO app.conversation_outcome (org_id, conversation_id, created_at, user_id, user_label, repository, model, source, cost_usd, failed_calls_usd, failed_turns_usd, turns, failed_turns, start_wait_ms, approval_waits_ms)
     VALUES ($1, $2, $3, $4, 'Seen', $5, $6, $7, $8, $9, $10, 2, 1, $11, $12)`,
    [
      ...[
        orgId,
        made.id,
        at,
        made.user,
        made.repository,
        made.model,
        made.source,
        made.cost,
        made.failedCalls,
        made.failedTurns,
      ],
      ...[made.startMs, made.approvals],
    ],
  );
export const pull = async (
  orgId: string,
  made: MadePull & { readonly number: number; readonly lead: string; readonly linked: readonly string[] },
): Promise<void> => {
  const { rows } = await app.owner.query<{ id: string }>(
    `INSERT INTO app.pull_request_outcome (org_id, provider, host, repository, number, conversation_id, begun_at, state, ready_at, first_review_at, merged_at, human_commits, watched_days,
       reverted_at, edited_at, reverts_read, edits_read, next_at)
     VALUES ($1, 'gitea', 'git.test', 'Acme/Shop', $2::int, $3, timestamptz '2026-11-12T10:00:00Z' + $2::int * interval '1 second', $4, '2026-11-12T10:00:00Z', CASE WHEN $2::int % 2 = 0 THEN timestamptz '2026-11-12T11:00:00Z' END,
       CASE WHEN $4 = 'merged' THEN timestamptz '2026-11-13T10:00:00Z' END, $5, $6, $7, $8, $9, $9, $10) RETURNING id`,
    [
      ...[
        orgId,
        made.number,
        made.lead,
        made.state,
        made.humanCommits,
        made.watchedDays,
        made.reverted ? new Date() : null,
        made.edited ? new Date() : null,
      ],
      ...[made.read, made.asking ? new Date() : null],
    ],
  );
  for (const each of made.linked)
    await app.owner.query(
      'INSERT INTO app.pull_request_work (org_id, pull_request_id, conversation_id) VALUES ($1, $2, $3)',
      [orgId, rows[0]?.id, each],
    );
};
export const get = async (query: string, user = ada): Promise<Outcomes> => {
  const { status, body } = await app.http(user, 'GET', path(`?${SPAN}&${query}`, user));
  expect([status, JSON.stringify(body).slice(0, 300)]).toEqual([200, expect.any(String)]);
  return Outcomes.parse(body);
};

export const plain: MadeConversation = {
  ...{
    id: '',
    repository: 'git.test/acme/shop',
    user: 'usr_x',
    model: 'm',
    source: 'user',
    cost: '1',
    failedCalls: '0',
    failedTurns: '0',
    startMs: null,
  },
  approvals: [],
};
export const settled: MadePull = {
  ...{
    state: 'merged',
    humanCommits: 0,
    watchedDays: 14,
    reverted: false,
    edited: false,
    read: true,
    asking: false,
    conversations: [],
  },
};

/** Two organizations whose work a test writes down. */
export function setUpOutcomes(): void {
  beforeAll(async () => {
    app = await ConversationApp.start();
    [ada, other] = [await app.user('Ada'), await app.user('Eve')];
  });
  afterAll(() => app?.close());
}
