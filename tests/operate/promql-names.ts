/**
 * What is written like a metric and is none: operators and modifiers. Functions and aggregations are followed by a
 * bracket or by `by`.
 */
const WORDS = new Set([
  'and',
  'or',
  'unless',
  'offset',
  'bool',
  'by',
  'without',
  'on',
  'ignoring',
  'group_left',
  'group_right',
  'inf',
  'nan',
]);

/**
 * The metrics that a PromQL expression reads. Only for expressions that Prometheus takes: anything else that resembles
 * a name is returned as one.
 */
export function metricNamesOf(expr: string): string[] {
  const plain = expr
    .replace(/#.*$/gm, '')
    .replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""')
    .replace(/\{[^}]*\}/g, '')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ')
    .replace(/\b\d[\d.a-z]*/g, '');
  return [...new Set([...plain.matchAll(/[a-zA-Z_:][\w:]*(?!\s*\(|[\w:])/g)].map(([name]) => name))].filter(
    (name) => !WORDS.has(name) && !AGGREGATIONS.has(name),
  );
}

/** They may be followed by `by (…)`, which is gone by then, and only then by their bracket. */
const AGGREGATIONS = new Set([
  'sum',
  'min',
  'max',
  'avg',
  'count',
  'topk',
  'bottomk',
  'quantile',
  'group',
  'stddev',
  'count_values',
]);
