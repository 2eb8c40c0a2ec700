import pg from 'pg';

/** `c.org_id = $1`, `"org_id" = $1`, `org_id = ANY ($1)`: what a developer might forget. */
const FILTER = /(?:"?\b\w+"?\.)*"?\borg_id"?\s*=\s*(?:ANY\s*\(\s*\$(\d+)(?:::\w+\[\])?\s*\)|\$(\d+)(?:::\w+)?)/gi;
/** Of an upsert: what it is unique by, not what it may see. */
const WRITES = /^\s*INSERT\b/i;

/** A statement without its filter by organization. The parameter stays in it, since it is sent. */
export function withoutFilters(sql: string): string {
  return WRITES.test(sql)
    ? sql
    : sql.replace(FILTER, (_filter, many: string | undefined, one: string | undefined) => {
        const parameter = many === undefined ? `$${one}::text` : `$${many}::text[]`;
        return `(${parameter} IS NOT NULL OR ${parameter} IS NULL)`;
      });
}

/**
 * Takes the filters by organization out of every statement that this process sends, Prisma's too, until the answer is
 * called.
 * @returns how many it has taken out, and the way back.
 */
export function forgetFilters(): { readonly taken: () => number; readonly restore: () => void } {
  const prototype = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown };
  const original = prototype.query;
  let taken = 0;
  const strip = (sql: string): string => {
    const stripped = withoutFilters(sql);
    if (stripped !== sql) taken += 1;
    return stripped;
  };
  prototype.query = function query(this: unknown, first: unknown, ...rest: unknown[]): unknown {
    if (typeof first === 'string') return original.call(this, strip(first), ...rest);
    const config = first as { text?: unknown; name?: unknown } | null;
    if (config === null || typeof config !== 'object' || typeof config.text !== 'string')
      return original.call(this, first, ...rest);
    const text = strip(config.text);
    // A name stands for the text that it was first prepared with.
    const changed = Object.assign(
      Object.create(Object.getPrototypeOf(config) as object),
      config,
      text === config.text ? {} : { text, name: undefined },
    ) as object;
    return original.call(this, changed, ...rest);
  };
  return {
    taken: () => taken,
    restore: () => {
      prototype.query = original;
    },
  };
}
