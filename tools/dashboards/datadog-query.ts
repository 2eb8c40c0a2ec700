import type { Labels, Match, Query } from './query.ts';

/** Before each name, as the agent's check sets it. */
const NAMESPACE = 'slipway';
/** Labels that Datadog knows by names of its own: tags of the pod. */
const TAGS: Readonly<Record<string, string>> = { job: 'service', instance: 'pod_name' };

/** A formula over queries with the names `a`, `b`, … */
export interface DatadogFormula {
  readonly formula: string;
  readonly queries: readonly { readonly name: string; readonly query: string }[];
}

/** For a widget. */
export function formulaOf(query: Query): DatadogFormula {
  const queries: { name: string; query: string }[] = [];
  const formula = write(query, (text) => {
    const name = `query${queries.length + 1}`;
    queries.push({ name, query: text });
    return name;
  });
  return { formula, queries };
}

/** For a monitor, in one piece. */
export const expressionOf = (query: Query): string => write(query, (text) => text);

/** The name of a metric, or of a histogram's `_count` and `_sum`, as the check sends it. */
export function datadogName(metric: string): string {
  const ending = /_(total|count|sum)$/.exec(metric)?.[1];
  if (ending === undefined) return `${NAMESPACE}.${metric}`;
  return `${NAMESPACE}.${metric.slice(0, -ending.length - 1)}.${ending === 'sum' ? 'sum' : 'count'}`;
}

function write(query: Query, put: (text: string) => string): string {
  switch (query.kind) {
    case 'gauge':
      return put(`${query.aggregation}:${datadogName(query.metric)}${scope(query.where)}${grouping(query.by)}`);
    case 'rate':
      return put(`sum:${datadogName(query.metric)}${scope(query.where)}${grouping(query.by)}.as_rate()`);
    case 'total':
      return put(`sum:${datadogName(query.metric)}${scope(query.where)}${grouping(query.by)}.as_count()`);
    case 'quantile':
      return put(`p${query.quantile * 100}:${datadogName(query.metric)}${scope(query.where)}${grouping(query.by)}`);
    case 'within':
      return put(
        `count(v: v<=${query.bound}):${datadogName(query.metric)}${scope(query.where)}${grouping(query.by)}.as_rate()`,
      );
    case 'calculation':
      return `${bracketed(query.left, put)} ${query.operator} ${bracketed(query.right, put)}`;
    case 'number':
      return String(query.value);
    case 'top':
      return `top(${write(query.of, put)}, ${query.count}, 'mean', 'desc')`;
    case 'orZero':
      return `default_zero(${write(query.of, put)})`;
    case 'pair':
      return put(query.datadog);
  }
}

function bracketed(query: Query, put: (text: string) => string): string {
  const text = write(query, put);
  return query.kind === 'calculation' ? `(${text})` : text;
}

export const tagOf = (label: string): string => TAGS[label] ?? label;
const grouping = (by: readonly string[]): string => (by.length === 0 ? '' : ` by {${by.map(tagOf).join(',')}}`);

function scope(where: Labels): string {
  const parts = Object.entries(where).map(([label, match]) => condition(tagOf(label), match));
  return `{${parts.length === 0 ? '*' : parts.join(' AND ')}}`;
}

function condition(tag: string, match: Match): string {
  if (typeof match === 'string') return `${tag}:${match}`;
  if ('in' in match) return `${tag} IN (${match.in.join(',')})`;
  if ('not' in match)
    return match.not.length === 1 ? `NOT ${tag}:${match.not[0]}` : `${tag} NOT IN (${match.not.join(',')})`;
  if ('startsNot' in match) return `NOT ${tag}:${match.startsNot}*`;
  if ('starts' in match) return `${tag}:${match.starts}*`;
  const apps = match.app.map((app) => `${tag}:*${app}`);
  return apps.length === 1 ? (apps[0] ?? '') : `(${apps.join(' OR ')})`;
}
