import { type Alert, type AlertGroup, BURN_RATES, type Objective } from './alert.ts';
import { expressionOf, formulaOf, tagOf } from './datadog-query.ts';
import {
  type Dashboard,
  DashboardSchema,
  type Monitor,
  MonitorSchema,
  type ServiceLevel,
  ServiceLevelSchema,
  type Widget,
} from './datadog-schema.ts';
import type { Board, Panel, Unit } from './model.ts';
import { labelsOf, minus, type Query } from './query.ts';

const UNITS: Readonly<Partial<Record<Unit, string>>> = {
  seconds: 'second',
  bytes: 'byte',
  usd: 'dollar',
  share: 'fraction',
};
/** Of 12 columns. */
const SIZES = { number: { width: 3, height: 2 }, lines: { width: 6, height: 3 } } as const;
/** Where `apply.mjs` puts the id that Datadog gave an objective. */
const idOf = (objective: string): string => `{{slo:${objective}}}`;
/** By which `apply.mjs` finds what it made before. */
const markOf = (name: string): string => `slipway:${name.toLowerCase()}`;

/** @throws ZodError when it holds anything that Datadog's description does not have. */
export function datadogDashboard(board: Board): Dashboard {
  const groups = board.rows
    .map(({ title, panels }) => ({ title, panels: panels.filter(({ grafanaOnly }) => grafanaOnly !== true) }))
    .filter(({ panels }) => panels.length > 0)
    .map(({ title, panels }) => groupOf(title, place(panels.map(widgetOf))));
  const objectives = (board.objectives ?? []).map((name) => ({
    definition: {
      type: 'slo' as const,
      slo_id: idOf(name),
      view_type: 'detail' as const,
      time_windows: ['7d', '30d'] as ('7d' | '30d')[],
      view_mode: 'both' as const,
      show_error_budget: true,
    },
    size: { width: 6, height: 4 },
  }));
  const all = [...(objectives.length === 0 ? [] : [groupOf('Objectives', place(objectives))]), ...groups];
  let y = 0;
  const widgets = all.map((group) => {
    const height = 1 + Math.max(0, ...group.widgets.map(({ layout }) => layout.y + layout.height));
    const widget: Widget = { definition: group, layout: { x: 0, y, width: 12, height } };
    y += height;
    return widget;
  });
  return DashboardSchema.parse({
    title: `Slipway / ${board.title}`,
    // Dashboards take no tags but of teams, so the mark is here.
    description: `Made from tools/dashboards of Slipway. ${markOf(board.name)}`,
    layout_type: 'ordered',
    reflow_type: 'fixed',
    widgets,
    template_variables: [],
  });
}

type Placed = Extract<Widget['definition'], { type: 'group' }>['widgets'][number];

const groupOf = (title: string, widgets: Placed[]): Extract<Widget['definition'], { type: 'group' }> => ({
  type: 'group',
  title,
  layout_type: 'ordered',
  widgets,
});

function place(
  items: readonly {
    readonly definition: Placed['definition'];
    readonly size: { readonly width: number; readonly height: number };
  }[],
): Placed[] {
  let [x, y, high] = [0, 0, 0];
  return items.map(({ definition, size: { width, height } }) => {
    if (x + width > 12) [x, y, high] = [0, y + high, 0];
    const placed = { definition, layout: { x, y, width, height } };
    x += width;
    high = Math.max(high, height);
    return placed;
  });
}

function widgetOf(panel: Panel): { definition: Placed['definition']; size: (typeof SIZES)[Panel['kind']] } {
  const { kind, title, unit, lines, thresholds } = panel;
  const unitName = UNITS[unit];
  const requests = lines.map(({ query, name }) => {
    const { formula, queries } = formulaOf(query);
    return {
      formulas: [
        {
          formula,
          ...(name === undefined ? {} : { alias: name }),
          ...(unitName === undefined
            ? {}
            : { number_format: { unit: { type: 'canonical_unit' as const, unit_name: unitName } } }),
        },
      ],
      queries: queries.map((each) => ({
        data_source: 'metrics' as const,
        ...each,
        ...(kind === 'number' ? { aggregator: 'last' as const } : {}),
      })),
    };
  });
  if (kind === 'number') {
    const [request] = requests;
    if (request === undefined) throw new Error(`${title} has no query`);
    // A number of several series: Datadog sums up only what has no labels.
    if (lines.some(({ query }) => labelsOf(query).length > 0)) {
      return {
        definition: { type: 'toplist', title, requests: [{ ...request, response_format: 'scalar' as const }] },
        size: SIZES.number,
      };
    }
    const formats = thresholds === undefined ? {} : { conditional_formats: formatsOf(thresholds) };
    const definition = {
      type: 'query_value' as const,
      title,
      autoscale: true,
      precision: 2,
      requests: [{ ...request, response_format: 'scalar' as const, ...formats }],
    };
    return { definition, size: SIZES.number };
  }
  const markers =
    thresholds === undefined
      ? {}
      : { markers: [{ value: `y = ${thresholds.critical}`, display_type: 'error dashed' as const }] };
  const definition = {
    type: 'timeseries' as const,
    title,
    show_legend: true,
    requests: requests.map((request) => ({
      ...request,
      response_format: 'timeseries' as const,
      display_type: 'line' as const,
    })),
    ...markers,
  };
  return { definition, size: SIZES.lines };
}

const formatsOf = ({ warning, critical }: NonNullable<Panel['thresholds']>) => [
  { comparator: '>=' as const, value: critical, palette: 'white_on_red' as const },
  ...(warning === undefined
    ? []
    : [{ comparator: '>=' as const, value: warning, palette: 'white_on_yellow' as const }]),
];

/**
 * One monitor an alert, and two an objective. @throws ZodError as `datadogDashboard`; also where the query's number is
 * not the threshold.
 */
export function datadogMonitors(
  groups: readonly AlertGroup[],
  objectives: readonly Objective[],
): ReadonlyMap<string, Monitor> {
  const monitors = [
    ...groups.flatMap(({ name: group, alerts }) => alerts.map((alert) => monitorOf(group, alert))),
    ...objectives.flatMap((objective) =>
      BURN_RATES.map(({ speed, factor, short, long, severity }): Monitor => {
        const name = `${objective.alert}${speed}`;
        return {
          name,
          type: 'slo alert',
          query: `burn_rate("${idOf(objective.name)}").over("30d").long_window("${long}").short_window("${short}") > ${factor}`,
          message: `${objective.title}: the error budget of thirty days burns ${factor} times too fast.\n\n${runbookOf(name)}`,
          tags: [markOf(name), 'service:slipway', `severity:${severity}`, 'group:objectives'],
          priority: severity === 'critical' ? 1 : 3,
          options: { thresholds: { critical: factor }, include_tags: true },
        };
      }),
    ),
  ];
  return new Map(monitors.map((monitor) => [monitor.name, MonitorSchema.parse(monitor)]));
}

function monitorOf(group: string, alert: Alert): Monitor {
  const own = alert.datadog;
  const { type, query, critical, notifyNoData = false } = own ?? sameQuestion(alert);
  const message = `${templatesOf(alert.summary)}\n\n${runbookOf(alert.name)}`;
  const common = {
    name: alert.name,
    query,
    message,
    tags: [markOf(alert.name), 'service:slipway', `severity:${alert.severity}`, `group:${group}`],
    priority: alert.severity === 'critical' ? 1 : 3,
  };
  if (type === 'service check')
    return { ...common, type, options: { thresholds: { critical, ok: 1 }, notify_no_data: false, include_tags: true } };
  return {
    ...common,
    type,
    options: {
      thresholds: { critical },
      on_missing_data: notifyNoData ? 'show_and_notify_no_data' : 'default',
      require_full_window: false,
      include_tags: true,
    },
  };
}

/**
 * Prometheus' question in Datadog's words. A gauge has to be over the threshold all the time; a rate, a share and a
 * quantile over the whole of it.
 */
function sameQuestion(alert: Alert): { type: 'query alert'; query: string; critical: number; notifyNoData?: boolean } {
  if ('promql' in alert) throw new Error(`${alert.name} has no query of Datadog's`);
  const { query, comparator, threshold, lasting = '5m' } = alert;
  // Datadog knows no `==` of a monitor; what is compared so are whole numbers.
  const [sign, critical] =
    comparator === '=='
      ? threshold === 0
        ? (['<', 1] as const)
        : (['>=', threshold] as const)
      : ([comparator, threshold] as const);
  const steady = isGauge(query) ? (sign === '<' ? 'max' : 'min') : 'avg';
  return {
    type: 'query alert',
    query: `${steady}(last_${lasting}):${expressionOf(query)} ${sign} ${critical}`,
    critical,
  };
}

function isGauge(query: Query): boolean {
  if (query.kind === 'orZero' || query.kind === 'top') return isGauge(query.of);
  return query.kind === 'gauge';
}

export function datadogServiceLevel({ name, title, description, target, total, bad, good }: Objective): ServiceLevel {
  const counted = (query: Query): string => expressionOf(query).replaceAll('.as_rate()', '.as_count()');
  return ServiceLevelSchema.parse({
    name: `Slipway / ${title}`,
    type: 'metric',
    description,
    query: {
      numerator: counted(good?.('auto') ?? minus(total('auto'), bad('auto'))),
      denominator: counted(total('auto')),
    },
    thresholds: [
      { timeframe: '7d', target: percent(target) },
      { timeframe: '30d', target: percent(target), warning: percent(target + (1 - target) / 2) },
    ],
    tags: [markOf(name), 'service:slipway'],
  });
}

const percent = (share: number): number => Number((share * 100).toFixed(4));
const runbookOf = (name: string): string => `docs/operate/alerts.md#${name.toLowerCase()}`;

/** `{{ $labels.pool }}` → `{{pool.name}}`, `{{ $value | humanizeDuration }}` → `{{value}}`. */
const templatesOf = (summary: string): string =>
  summary
    .replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => `{{${tagOf(label)}.name}}`)
    .replace(/\{\{ \$value[^}]*\}\}/g, '{{value}}');
