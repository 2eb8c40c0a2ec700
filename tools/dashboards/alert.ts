import type { Query } from './query.ts';

/** In minutes, or hours, as both programs write them. */
export type Span = `${number}${'m' | 'h'}`;

/** A monitor whose question Prometheus asks in another way. */
export interface OwnMonitor {
  readonly type: 'query alert' | 'service check';
  readonly query: string;
  /** As it stands in the query; of a service check: failures in a row. */
  readonly critical: number;
  readonly notifyNoData?: boolean;
}

interface AlertBase {
  readonly name: string;
  readonly severity: 'critical' | 'warning';
  /** How long it must hold [at once]. */
  readonly lasting?: Span;
  /** One sentence, with Prometheus' templates; Datadog's are made of them. */
  readonly summary: string;
  readonly comment?: string;
}
export type Alert =
  | (AlertBase & {
      readonly query: Query;
      readonly comparator: '>' | '==' | '<';
      readonly threshold: number;
      /** In place of the same question. */
      readonly datadog?: OwnMonitor;
    })
  | (AlertBase & { readonly promql: string; readonly datadog: OwnMonitor });

export interface AlertGroup {
  readonly name: string;
  readonly alerts: readonly Alert[];
}

/** What is promised over thirty days. Both queries are rates, so that they can be counted over any window. */
export interface Objective {
  readonly name: string;
  readonly title: string;
  /** For a tile. */
  readonly short: string;
  readonly description: string;
  /** Share of good ones: 0.999. */
  readonly target: number;
  readonly total: (window: Span | 'auto' | '30d') => Query;
  readonly bad: (window: Span | 'auto' | '30d') => Query;
  /**
   * The good ones themselves, where they can be asked for: in place of those that are left [all without the bad ones].
   */
  readonly good?: (window: Span | 'auto' | '30d') => Query;
  /** Names of its two alerts begin so. */
  readonly alert: string;
}

/**
 * How much faster than the budget allows, over both windows: of thirty days' budget, 2 % is gone in an hour at the
 * first, 5 % in six hours at the second.
 */
export const BURN_RATES = [
  { speed: 'Fast', factor: 14.4, short: '5m', long: '1h', severity: 'critical' },
  { speed: 'Slow', factor: 6, short: '30m', long: '6h', severity: 'warning' },
] as const;
