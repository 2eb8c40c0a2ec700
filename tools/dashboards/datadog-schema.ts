import { z } from 'zod';

/**
 * What we use of Datadog's API (v1), and nothing else: an unknown field is refused here, before an operator's upload
 * is.
 */
const Layout = z.strictObject({
  x: z.number().int().min(0).max(11),
  y: z.number().int().min(0),
  width: z.number().int().min(1).max(12),
  height: z.number().int().min(1),
});
const Formula = z.strictObject({
  formula: z.string().min(1),
  alias: z.string().optional(),
  number_format: z
    .strictObject({ unit: z.strictObject({ type: z.literal('canonical_unit'), unit_name: z.string() }) })
    .optional(),
});
const MetricQuery = z.strictObject({
  data_source: z.literal('metrics'),
  name: z.string().regex(/^[a-z]\w*$/),
  query: z
    .string()
    .regex(
      /^(?:sum|max|min|avg|p\d+(?:\.\d+)?|count\(v: v<=[\d.]+\)):[\w.]+\{[^}]+\}(?: by \{[\w,.]+\})?(?:\.as_(?:rate|count)\(\))?$/,
    ),
  aggregator: z.enum(['last', 'avg', 'max', 'sum']).optional(),
});
const ConditionalFormat = z.strictObject({
  comparator: z.enum(['>', '>=', '<', '<=']),
  value: z.number(),
  palette: z.enum(['white_on_red', 'white_on_yellow', 'white_on_green']),
});
const request = { formulas: z.array(Formula).min(1), queries: z.array(MetricQuery).min(1) };
const QueryValue = z.strictObject({
  type: z.literal('query_value'),
  title: z.string(),
  autoscale: z.boolean(),
  precision: z.number().int(),
  requests: z
    .array(
      z.strictObject({
        ...request,
        response_format: z.literal('scalar'),
        conditional_formats: z.array(ConditionalFormat).optional(),
      }),
    )
    .length(1),
});
const TopList = z.strictObject({
  type: z.literal('toplist'),
  title: z.string(),
  requests: z.array(z.strictObject({ ...request, response_format: z.literal('scalar') })).length(1),
});
const Timeseries = z.strictObject({
  type: z.literal('timeseries'),
  title: z.string(),
  show_legend: z.boolean(),
  requests: z
    .array(z.strictObject({ ...request, response_format: z.literal('timeseries'), display_type: z.literal('line') }))
    .min(1),
  markers: z
    .array(z.strictObject({ value: z.string().regex(/^y = [\d.]+$/), display_type: z.literal('error dashed') }))
    .optional(),
});
const Slo = z.strictObject({
  type: z.literal('slo'),
  slo_id: z.string(),
  view_type: z.literal('detail'),
  time_windows: z.array(z.enum(['7d', '30d', '90d'])).min(1),
  view_mode: z.literal('both'),
  show_error_budget: z.boolean(),
});
const Group = z.strictObject({
  type: z.literal('group'),
  title: z.string(),
  layout_type: z.literal('ordered'),
  widgets: z
    .array(
      z.strictObject({
        definition: z.discriminatedUnion('type', [QueryValue, TopList, Timeseries, Slo]),
        layout: Layout,
      }),
    )
    .min(1),
});
const WidgetSchema = z.strictObject({ definition: Group, layout: Layout });

export const DashboardSchema = z.strictObject({
  title: z.string().max(300),
  description: z.string().regex(/slipway:[a-z-]+$/),
  layout_type: z.literal('ordered'),
  reflow_type: z.literal('fixed'),
  widgets: z.array(WidgetSchema).min(1),
  template_variables: z.array(z.never()),
});

const monitor = {
  name: z.string(),
  message: z.string(),
  tags: z.array(z.string().regex(/^[a-z]+:[\w-]+$/)),
  priority: z.number().int().min(1).max(5),
};
const QueryMonitor = z.strictObject({
  ...monitor,
  type: z.literal('query alert'),
  query: z
    .string()
    .regex(/^(?:(?:min|max|avg|sum)\(last_\d+[mh]\)|change\(max\(last_\d+m\),last_\d+m\)):.+ (?:>|>=|<) [\d.]+$/),
  options: z.strictObject({
    thresholds: z.strictObject({ critical: z.number(), warning: z.number().optional() }),
    on_missing_data: z.enum(['default', 'show_and_notify_no_data']),
    require_full_window: z.boolean(),
    include_tags: z.boolean(),
  }),
});
const BurnMonitor = z.strictObject({
  ...monitor,
  type: z.literal('slo alert'),
  query: z
    .string()
    .regex(
      /^burn_rate\("\{\{slo:[a-z-]+\}\}"\)\.over\("30d"\)\.long_window\("\d+h"\)\.short_window\("\d+m"\) > [\d.]+$/,
    ),
  options: z.strictObject({ thresholds: z.strictObject({ critical: z.number() }), include_tags: z.boolean() }),
});
const CheckMonitor = z.strictObject({
  ...monitor,
  type: z.literal('service check'),
  query: z.string().regex(/^"[\w.]+"\.over\("[^"]+"\)\.by\((?:"\w+",?)+\)\.last\(\d+\)\.count_by_status\(\)$/),
  options: z.strictObject({
    thresholds: z.strictObject({ critical: z.number().int(), ok: z.number().int() }),
    notify_no_data: z.boolean(),
    include_tags: z.boolean(),
  }),
});

/**
 * Datadog refuses a monitor whose query ends with another number than `thresholds.critical`, and a check that reads too
 * few results for it.
 */
export const MonitorSchema = z
  .discriminatedUnion('type', [QueryMonitor, BurnMonitor, CheckMonitor])
  .superRefine(({ type, query, options }, context) => {
    const { critical } = options.thresholds;
    const inQuery =
      type === 'service check'
        ? Number(/\.last\((\d+)\)/.exec(query)?.[1]) - 1
        : Number(query.slice(query.lastIndexOf(' ')));
    if (inQuery !== critical)
      context.addIssue({
        code: 'custom',
        path: ['options', 'thresholds', 'critical'],
        message: `${critical} is not what the query says: ${query}`,
      });
  });

export const ServiceLevelSchema = z.strictObject({
  name: z.string(),
  type: z.literal('metric'),
  description: z.string(),
  query: z.strictObject({
    numerator: z.string().includes('.as_count()'),
    denominator: z.string().includes('.as_count()'),
  }),
  thresholds: z
    .array(
      z.strictObject({
        timeframe: z.enum(['7d', '30d', '90d']),
        target: z.number().gt(0).lt(100),
        warning: z.number().gt(0).lt(100).optional(),
      }),
    )
    .min(1),
  tags: z.array(z.string()),
});

export type Dashboard = z.infer<typeof DashboardSchema>;
export type Widget = z.infer<typeof WidgetSchema>;
export type Monitor = z.infer<typeof MonitorSchema>;
export type ServiceLevel = z.infer<typeof ServiceLevelSchema>;
