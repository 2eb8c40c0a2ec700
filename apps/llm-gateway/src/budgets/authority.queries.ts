import type { SqlPool } from '@slipway/db/sql';

/** What a replica does with an account in one turn. Ticks. */
export interface GiveBack {
  readonly a: number;
  /** Below zero: it has come to owe more than it held. */
  readonly n: number;
  /** The recall that this answers; 0: none. */
  readonly s: number;
}

/** A recall that a call waits for: how much room there was at its start, and what had ever been given back by then. */
export interface Round {
  readonly r: number;
  readonly f: number;
  readonly t: number;
  /** No other replica could spend by itself at its start. */
  readonly c: boolean;
  /** The account that had too little. */
  readonly b: number;
}
export const NO_ROUND: Round = { r: 0, f: 0, t: 0, c: false, b: 0 };

export interface AskedCall extends Round {
  readonly a: readonly number[];
  /** Wanted, and the least that is of use. */
  readonly w: number;
  readonly m: number;
}

export interface Refusal {
  readonly a: number;
  /** Ticks, as exactly as a double has them. */
  readonly limit: number;
  readonly spent: number;
  readonly ends: string;
  readonly kind: 'org' | 'member' | 'key' | 'conversation';
  readonly subject: string;
}

export type CallAnswer =
  | { readonly g: number }
  | { readonly stale: true }
  | ({ readonly wait: true; readonly a: number; readonly alone?: boolean } & Omit<Round, 'b'>)
  | Refusal;

export interface Turn {
  readonly number: number;
  readonly at: Date;
  readonly back: readonly GiveBack[];
  readonly calls: readonly AskedCall[];
  readonly refill: ReadonlyArray<{ readonly a: number; readonly n: number }>;
}

export type TurnAnswer =
  | { readonly gone: true }
  | {
      readonly calls: readonly CallAnswer[];
      readonly refill: ReadonlyArray<{ readonly a: number; readonly n: number }>;
    };

/** One commit; the same turn sent again is answered the same and changes nothing. */
export async function takeBudgets(pool: SqlPool, replica: string, turn: Turn): Promise<TurnAnswer> {
  const { rows } = await pool.query<{ answer: TurnAnswer }>({
    name: 'take-budgets',
    text: 'SELECT gateway.take_budgets($1, $2, $3, $4, $5, $6) AS answer',
    values: [
      replica,
      turn.number,
      turn.at,
      JSON.stringify(turn.back),
      JSON.stringify(turn.calls),
      JSON.stringify(turn.refill),
    ],
  });
  const [row] = rows;
  if (row === undefined) throw new Error('a function without a row');
  return row.answer;
}

export async function addReplica(pool: SqlPool, replica: string): Promise<void> {
  await pool.query('INSERT INTO gateway.budget_replica (id) VALUES ($1) ON CONFLICT (id) DO NOTHING', [replica]);
}

/** False: it has lapsed, and what it held belongs to others. */
export async function beatReplica(pool: SqlPool, replica: string): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'beat',
    text: 'UPDATE gateway.budget_replica SET beat_at = now() WHERE id = $1',
    values: [replica],
  });
  return rowCount === 1;
}

export async function reapReplicas(pool: SqlPool, holdSeconds: number): Promise<void> {
  await pool.query({ name: 'reap', text: 'SELECT gateway.reap_replicas($1)', values: [holdSeconds] });
}

export async function endReplica(pool: SqlPool, replica: string): Promise<void> {
  await pool.query('SELECT gateway.end_replicas(ARRAY[$1::uuid])', [replica]);
}
