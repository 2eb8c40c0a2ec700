import type { Labels, Match, Query, Window } from './query.ts';

/** @param auto what a window of `auto` is: Grafana's own variable, or a time where there is no panel. */
export function promql(query: Query, auto = '$__rate_interval'): string {
  switch (query.kind) {
    case 'gauge':
      return `${query.aggregation}${byOf(query.by)}(${query.metric}${selector(query.where)})`;
    case 'rate':
      return `sum${byOf(query.by)}(rate(${query.metric}${selector(query.where)}[${windowOf(query.window, auto)}]))`;
    case 'total':
      return `sum${byOf(query.by)}(increase(${query.metric}${selector(query.where)}[$__range]))`;
    case 'quantile': {
      const buckets = `rate(${query.metric}_bucket${selector(query.where)}[${windowOf(query.window, auto)}])`;
      return `histogram_quantile(${query.quantile}, sum by (${['le', ...query.by].join(', ')}) (${buckets}))`;
    }
    case 'within':
      return `sum${byOf(query.by)}(rate(${query.metric}_bucket${selector({ ...query.where, le: { in: boundsOf(query.bound) } })}[${windowOf(query.window, auto)}]))`;
    case 'calculation':
      return `${bracketed(query.left, auto)} ${query.operator} ${bracketed(query.right, auto)}`;
    case 'number':
      return String(query.value);
    case 'top':
      return `topk(${query.count}, ${promql(query.of, auto)})`;
    case 'orZero':
      return `${bracketed(query.of, auto)} or vector(0)`;
    case 'pair':
      return query.promql;
  }
}

/** Prometheus 3 writes the bound of a bucket that is a whole number as `5.0`, and earlier ones as `5`. */
const boundsOf = (bound: number): readonly string[] =>
  Number.isInteger(bound) ? [`${bound}`, `${bound}[.]0`] : [`${bound}`];
const windowOf = (window: Window, auto: string): string => (window === 'auto' ? auto : window);
const byOf = (by: readonly string[]): string => (by.length === 0 ? '' : ` by (${by.join(', ')}) `);

function bracketed(query: Query, auto: string): string {
  const text = promql(query, auto);
  return query.kind === 'calculation' || query.kind === 'orZero' || query.kind === 'pair' ? `(${text})` : text;
}

function selector(where: Labels): string {
  const parts = Object.entries(where).map(([label, match]) => `${label}${matcher(match)}`);
  return parts.length === 0 ? '' : `{${parts.join(', ')}}`;
}

function matcher(match: Match): string {
  if (typeof match === 'string') return `="${match}"`;
  if ('in' in match) return `=~"${match.in.join('|')}"`;
  if ('not' in match) return match.not.length === 1 ? `!="${match.not[0]}"` : `!~"${match.not.join('|')}"`;
  if ('startsNot' in match) return `!~"${match.startsNot}.+"`;
  if ('starts' in match) return `=~"${match.starts}.+"`;
  return `=~".+-(${match.app.join('|')})"`;
}
