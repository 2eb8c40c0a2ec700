import type { Tables } from './generated/tables.js';

/**
 * Some columns of one table: what a statement selects under their own names. What it computes or renames is written
 * beside it, with `&`.
 *
 * @typeParam Narrower what is known of a column beyond its type: the words it may hold, the shape of its JSON, that the
 * statement leaves out NULL.
 */
export type Columns<
  Table extends keyof Tables,
  Column extends keyof Tables[Table],
  Narrower extends Partial<Pick<Tables[Table], Column>> = Pick<Tables[Table], Column>,
> = Pick<Tables[Table], Column> & Narrower;
