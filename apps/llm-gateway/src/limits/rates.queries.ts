import type { SqlPool } from '@slipway/db/sql';

/** `c`: a minute's worth. `w`: would like. `d`: is taken without asking; below zero, given back. */
export interface RateTake {
  readonly o: string;
  readonly k: string;
  readonly c: number;
  readonly w: number;
  readonly d: number;
}

/** One commit; each bucket is named once. Answers what was taken of each `w`, and how full the bucket is after it. */
export async function takeRates(
  pool: SqlPool,
  takes: readonly RateTake[],
): Promise<ReadonlyArray<{ g: number; l: number }>> {
  const { rows } = await pool.query<{ answer: Array<{ g: number; l: number }> }>({
    name: 'take-rates',
    text: 'SELECT gateway.take_rates($1) AS answer',
    values: [JSON.stringify(takes)],
  });
  return rows[0]?.answer ?? [];
}
