/** Which series of a metric: by label. A list is one of them. */
export type Match =
  | string
  | { readonly in: readonly string[] }
  | { readonly not: readonly string[] }
  | { readonly starts: string }
  | { readonly startsNot: string }
  /** An app, by the end of its Service's name: `app-server`. */
  | { readonly app: readonly string[] };
export type Labels = Readonly<Record<string, Match>>;
type Aggregation = 'sum' | 'max' | 'min';
/** Time over which a rate is taken. `auto`: what the panel's width asks for. */
export type Window = 'auto' | `${number}${'m' | 'h' | 'd'}`;

interface Series {
  /** As in `/metrics`. */
  readonly metric: string;
  readonly where: Labels;
  readonly by: readonly string[];
}

/** A query that both Prometheus and Datadog answer; `promql.ts` and `datadog-query.ts` write it. */
export type Query =
  | ({ readonly kind: 'gauge'; readonly aggregation: Aggregation } & Series)
  /** A second of it. */
  | ({ readonly kind: 'rate'; readonly window: Window } & Series)
  /** How much it grew in the time that the panel shows. */
  | ({ readonly kind: 'total' } & Series)
  | ({ readonly kind: 'quantile'; readonly quantile: number; readonly window: Window } & Series)
  /** Observations a second of a histogram that are at most `bound`, which is the end of a bucket. */
  | ({ readonly kind: 'within'; readonly bound: number; readonly window: Window } & Series)
  | {
      readonly kind: 'calculation';
      readonly operator: '/' | '*' | '-' | '+';
      readonly left: Query;
      readonly right: Query;
    }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'top'; readonly count: number; readonly of: Query }
  /** 0 where there is no series. */
  | { readonly kind: 'orZero'; readonly of: Query }
  /** What the two say in ways that have nothing in common. `datadog` without a function around it. */
  | { readonly kind: 'pair'; readonly promql: string; readonly datadog: string; readonly by: readonly string[] };

interface Choice {
  readonly where?: Labels;
  readonly by?: readonly string[];
}
const series = (metric: string, { where = {}, by = [] }: Choice): Series => ({ metric, where, by });

export const gauge = (aggregation: Aggregation, metric: string, choice: Choice = {}): Query => ({
  kind: 'gauge',
  aggregation,
  ...series(metric, choice),
});
export const rate = (
  metric: string,
  { window = 'auto', ...choice }: Choice & { readonly window?: Window } = {},
): Query => ({
  kind: 'rate',
  window,
  ...series(metric, choice),
});
export const total = (metric: string, choice: Choice = {}): Query => ({ kind: 'total', ...series(metric, choice) });
export const quantile = (
  share: number,
  metric: string,
  { window = 'auto', ...choice }: Choice & { readonly window?: Window } = {},
): Query => ({
  kind: 'quantile',
  quantile: share,
  window,
  ...series(metric, choice),
});
export const within = (
  bound: number,
  metric: string,
  { window = 'auto', ...choice }: Choice & { readonly window?: Window } = {},
): Query => ({
  kind: 'within',
  bound,
  window,
  ...series(metric, choice),
});
const calculation =
  (operator: '/' | '*' | '-' | '+') =>
  (left: Query, right: Query | number): Query => ({
    kind: 'calculation',
    operator,
    left,
    right: typeof right === 'number' ? constant(right) : right,
  });
export const over = calculation('/');
export const times = calculation('*');
export const minus = calculation('-');
export const plus = calculation('+');
export const top = (count: number, of: Query): Query => ({ kind: 'top', count, of });
export const constant = (value: number): Query => ({ kind: 'number', value });
export const orZero = (of: Query): Query => ({ kind: 'orZero', of });
export const pair = (promql: string, datadog: string, by: readonly string[] = []): Query => ({
  kind: 'pair',
  promql,
  datadog,
  by,
});

/** The labels by which the answer has a series each. */
export function labelsOf(query: Query): readonly string[] {
  switch (query.kind) {
    case 'calculation':
      return labelsOf(query.left).length > 0 ? labelsOf(query.left) : labelsOf(query.right);
    case 'number':
      return [];
    case 'top':
    case 'orZero':
      return labelsOf(query.of);
    default:
      return query.by;
  }
}
