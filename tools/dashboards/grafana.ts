import type { Board, Line, Panel, Unit } from './model.ts';
import { promql } from './promql.ts';
import { labelsOf } from './query.ts';

/** A variable of Grafana's. */
const DATA_SOURCE = { type: 'prometheus', uid: '$' + '{datasource}' } as const;
const UNITS: Readonly<Record<Unit, string>> = {
  number: 'short',
  seconds: 's',
  bytes: 'bytes',
  usd: 'currencyUSD',
  share: 'percentunit',
  requests: 'reqps',
  operations: 'ops',
  events: 'eps',
};
/** Of 24 columns. */
const SIZES = { number: { w: 6, h: 4 }, lines: { w: 12, h: 8 } } as const;

/** A dashboard as Grafana's sidecar reads it. */
export function grafanaDashboard(board: Board): object {
  const panels: object[] = [];
  let y = 0;
  for (const { title, panels: inRow } of board.rows) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: 24, h: 1 },
    });
    y += 1;
    let x = 0;
    let height = 0;
    for (const panel of inRow) {
      const { w, h } = SIZES[panel.kind];
      if (x + w > 24) {
        x = 0;
        y += height;
        height = 0;
      }
      panels.push(panelOf(panel, panels.length + 1, { x, y, w, h }));
      x += w;
      height = Math.max(height, h);
    }
    y += height;
  }
  return {
    uid: `slipway-${board.name}`,
    title: `Slipway / ${board.title}`,
    tags: ['slipway'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    timezone: 'browser',
    links: [
      { type: 'dashboards', title: 'Slipway', tags: ['slipway'], asDropdown: true, includeVars: true, keepTime: true },
    ],
    templating: {
      list: [
        {
          name: 'datasource',
          label: 'Data source',
          type: 'datasource',
          query: 'prometheus',
          current: {},
          hide: 0,
          refresh: 1,
        },
      ],
    },
    panels,
  };
}

function panelOf(panel: Panel, id: number, gridPos: object): object {
  const { kind, title, unit, note, thresholds } = panel;
  const steps = thresholds === undefined ? null : stepsOf(thresholds);
  return {
    id,
    type: kind === 'number' ? 'stat' : 'timeseries',
    title,
    ...(note === undefined ? {} : { description: note }),
    datasource: DATA_SOURCE,
    targets: panel.lines.map((line, index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: DATA_SOURCE,
      expr: promql(line.query, kind === 'number' ? '5m' : undefined),
      legendFormat: kind === 'number' ? '' : legendOf(line, title),
    })),
    fieldConfig: {
      defaults: {
        unit: UNITS[unit],
        min: 0,
        // An increase is extrapolated to the ends of its range: a fraction of a request is none.
        ...(kind === 'number' && unit === 'number' ? { decimals: 0 } : {}),
        ...(steps === null
          ? {}
          : {
              color: { mode: kind === 'number' ? 'thresholds' : 'palette-classic' },
              thresholds: { mode: 'absolute', steps },
            }),
        ...(kind === 'lines'
          ? {
              custom: {
                lineWidth: 1,
                fillOpacity: 10,
                showPoints: 'never',
                ...(steps === null ? {} : { thresholdsStyle: { mode: 'dashed' } }),
              },
            }
          : {}),
      },
      overrides: [],
    },
    options:
      kind === 'number'
        ? { reduceOptions: { calcs: ['lastNotNull'] }, colorMode: 'value', graphMode: 'area' }
        : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    gridPos,
  };
}

function stepsOf({ warning, critical }: NonNullable<Panel['thresholds']>): object[] {
  return [
    { color: 'green', value: null },
    ...(warning === undefined ? [] : [{ color: 'orange', value: warning }]),
    { color: 'red', value: critical },
  ];
}

function legendOf({ query, name }: Line, title: string): string {
  const parts = [...labelsOf(query).map((label) => `{{${label}}}`), ...(name === undefined ? [] : [name])];
  return parts.length === 0 ? title.toLowerCase() : parts.join(' ');
}
