import type { Query } from './query.ts';

/** What a number is of. Each program has its own name for it: `UNITS`. */
export type Unit = 'number' | 'seconds' | 'bytes' | 'usd' | 'share' | 'requests' | 'operations' | 'events';

export interface Line {
  readonly query: Query;
  /** Beside the labels of the series. */
  readonly name?: string;
}

/** Where a number begins to be bad. */
export interface Thresholds {
  readonly warning?: number;
  readonly critical: number;
}

export interface Panel {
  readonly kind: 'number' | 'lines';
  readonly title: string;
  readonly unit: Unit;
  readonly lines: readonly Line[];
  readonly note?: string;
  readonly thresholds?: Thresholds;
  /** Left out of Datadog, which has no metric for it. */
  readonly grafanaOnly?: boolean;
}

/** Four numbers, or two pictures, beside each other. */
export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export interface Board {
  /** Of the files, and of the dashboard's address: for good. */
  readonly name: string;
  readonly title: string;
  readonly rows: readonly Row[];
  /** Objectives that are shown with it, by name. */
  readonly objectives?: readonly string[];
}

type PanelOptions = Pick<Panel, 'note' | 'thresholds' | 'grafanaOnly'>;

export const number = (title: string, unit: Unit, query: Query, options: PanelOptions = {}): Panel => ({
  kind: 'number',
  title,
  unit,
  lines: [{ query }],
  ...options,
});

/** @param lines queries, with a name each where labels do not distinguish them. */
export const lines = (
  title: string,
  unit: Unit,
  of: Query | Readonly<Record<string, Query>>,
  options: PanelOptions = {},
): Panel => ({
  kind: 'lines',
  title,
  unit,
  lines: isQuery(of) ? [{ query: of }] : Object.entries(of).map(([name, query]) => ({ name, query })),
  ...options,
});

export const row = (title: string, ...panels: readonly Panel[]): Row => ({ title, panels });

const isQuery = (value: Query | Readonly<Record<string, Query>>): value is Query =>
  typeof (value as { kind?: unknown }).kind === 'string';
