import type { GeneratedFile } from '../generate/generated-file.ts';
import type { AlertGroup } from './alert.ts';
import { availability } from './alerts/availability.ts';
import { conversations as conversationAlerts } from './alerts/conversations.ts';
import { credentialBroker } from './alerts/credential-broker.ts';
import { models as modelAlerts, sandboxGateway } from './alerts/models.ts';
import { pools as poolAlerts } from './alerts/pools.ts';
import { budgets } from './boards/budgets.ts';
import { conversations } from './boards/conversations.ts';
import { data } from './boards/data.ts';
import { errorBudget } from './boards/error-budget.ts';
import { integrations } from './boards/integrations.ts';
import { models } from './boards/models.ts';
import { overview } from './boards/overview.ts';
import { pools } from './boards/pools.ts';
import { sandboxes } from './boards/sandboxes.ts';
import { startFlow } from './boards/start-flow.ts';
import { success } from './boards/success.ts';
import { telemetry } from './boards/telemetry.ts';
import { tenancy } from './boards/tenancy.ts';
import { datadogDashboard, datadogMonitors, datadogServiceLevel } from './datadog.ts';
import { grafanaDashboard } from './grafana.ts';
import type { Board } from './model.ts';
import { OBJECTIVES } from './objectives.ts';
import { prometheusRules } from './prometheus-rules.ts';

export const BOARDS: readonly Board[] = [
  overview,
  success,
  startFlow,
  conversations,
  pools,
  sandboxes,
  models,
  budgets,
  integrations,
  tenancy,
  errorBudget,
  telemetry,
  data,
];
export const ALERTS: readonly AlertGroup[] = [
  availability,
  conversationAlerts,
  poolAlerts,
  modelAlerts,
  sandboxGateway,
  credentialBroker,
];

const CHART_FILES = 'helm/slipway/files';
/** Folders that hold nothing but what is made here. */
export const DASHBOARD_FOLDERS = ['dashboards', 'datadog/dashboards', 'datadog/monitors', 'datadog/slos'].map(
  (folder) => `${CHART_FILES}/${folder}`,
);

/**
 * Grafana's and Datadog's dashboards, Prometheus' rules, Datadog's monitors and objectives, and the metrics that the
 * agent has to read for these.
 */
export function dashboardFiles(): GeneratedFile[] {
  const json = (path: string, content: object): GeneratedFile => ({
    path: `${CHART_FILES}/${path}.json`,
    content: `${JSON.stringify(content, null, 2)}\n`,
  });
  const datadog = [
    ...BOARDS.map((board) => json(`datadog/dashboards/${board.name}`, datadogDashboard(board))),
    ...[...datadogMonitors(ALERTS, OBJECTIVES)].map(([name, monitor]) => json(`datadog/monitors/${name}`, monitor)),
    ...OBJECTIVES.map((objective) => json(`datadog/slos/${objective.name}`, datadogServiceLevel(objective))),
  ];
  return [
    { path: `${CHART_FILES}/alerts.yaml`, content: prometheusRules(ALERTS, OBJECTIVES) },
    ...BOARDS.map((board) => json(`dashboards/${board.name}`, grafanaDashboard(board))),
    ...datadog,
    json('datadog/metrics', metricsOf(datadog)),
  ];
}

/**
 * Names as the agent's check takes them: of a counter without `_total`. Each series is one that Datadog bills, so no
 * other is listed.
 */
function metricsOf(files: readonly GeneratedFile[]): string[] {
  const names = files.flatMap(({ content }) =>
    [...content.matchAll(/[: (]slipway\.([a-z_0-9]+)(?:\.(?:count|sum))?\{/g)].map(([, name = '']) => name),
  );
  return [...new Set(names)].sort();
}
