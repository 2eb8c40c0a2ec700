import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import { ERRORS } from '@slipway/contracts/errors';
import { itUnless } from '@slipway/testing/jest';
import { parse } from 'yaml';
import { BOARDS } from '../../tools/dashboards/files.ts';
import { ALERT_CASES, type AlertCase } from './alert-cases.ts';
import { queriedNames } from './metrics-page.ts';
import { metricNamesOf } from './promql-names.ts';
import { openPromtool, promtool } from './promtool.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const RULES = path.join(ROOT, 'helm/slipway/files/alerts.yaml');
const DASHBOARDS = path.join(ROOT, 'helm/slipway/files/dashboards');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}
interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly {
    readonly type: string;
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

const rules = (parse(await readFile(RULES, 'utf8')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const dashboards = await Promise.all(
  (await readdir(DASHBOARDS))
    .filter((name) => name.endsWith('.json'))
    .map(async (name) => JSON.parse(await readFile(path.join(DASHBOARDS, name), 'utf8')) as Dashboard),
);
const panels = dashboards.flatMap((dashboard) =>
  dashboard.panels.flatMap((panel) =>
    (panel.targets ?? []).map(({ expr }) => ({ where: `${dashboard.title}: ${panel.title}`, expr })),
  ),
);
const found = await openPromtool();
const program = typeof found === 'string' ? '' : found.program;
const skip = typeof found === 'string' ? found : false;

jest.setTimeout(300_000);

describe('alerts and dashboards', () => {
  it('use no metric that the apps do not have (docs/operate/metrics.md, which is compared with them)', () => {
    // What Prometheus itself says of a target.
    const known = new Set([...queriedNames(), 'up', 'scrape_duration_seconds', 'scrape_samples_scraped']);
    const wrong = [...rules.map(({ alert, expr }) => ({ where: alert, expr })), ...panels].flatMap(({ where, expr }) =>
      metricNamesOf(expr)
        .filter((name) => !known.has(name))
        .map((name) => `${where}: ${name}`),
    );
    expect(wrong).toEqual([]);
    expect(panels.length).toBeGreaterThan(30);
  });

  it('every alert has a severity, a summary, and a section of docs/operate/alerts.md that its runbook_url names; and no section is of no alert', async () => {
    const page = await readFile(path.join(ROOT, 'docs/operate/alerts.md'), 'utf8');
    const sections = [...page.matchAll(/^### (Slipway\w+)$/gm)].map(([, name]) => name);
    expect(sections.sort()).toEqual(rules.map(({ alert }) => alert).sort());
    for (const { alert, labels, annotations } of rules) {
      expect([alert, annotations.runbook_url]).toEqual([alert, `docs/operate/alerts.md#${alert.toLowerCase()}`]);
      expect(['critical', 'warning']).toContain(labels.severity);
      expect(annotations.summary.length).toBeGreaterThan(20);
    }
    const codes = [...page.matchAll(/`((?:sandbox|ingest|model|auth|service|agent|conversation)\.[a-z-]+)`/g)].map(
      ([, code = '']) => code,
    );
    expect(codes.filter((code) => !(code in ERRORS))).toEqual([]);
  });

  it('every dashboard has an id of its own', () => {
    expect(dashboards.map(({ uid }) => uid).sort()).toEqual(BOARDS.map(({ name }) => `slipway-${name}`).sort());
  });

  itUnless(skip)('each alert fires when it should and not just before (promtool test rules)', async () => {
    expect(Object.keys(ALERT_CASES).sort()).toEqual(rules.map(({ alert }) => alert).sort());
    await inFolder(async (folder) => {
      // Each with its own rule alone: every rule in every case takes promtool four times as long.
      const files = await Promise.all(
        rules.map(async (rule) => {
          const [own, tests] = [path.join(folder, `${rule.alert}.rules.yaml`), path.join(folder, `${rule.alert}.yaml`)];
          await writeFile(own, JSON.stringify({ groups: [{ name: 'one', rules: [rule] }] }));
          await writeFile(
            tests,
            JSON.stringify({ rule_files: [own], evaluation_interval: '1m', tests: testsOf(rule.alert) }),
          );
          return tests;
        }),
      );
      await promtool(program, 'test', 'rules', ...files);
    });
  });

  itUnless(skip)('every expression is PromQL to Prometheus itself (promtool check rules)', async () => {
    expect(await promtool(program, 'check', 'rules', RULES)).toContain(`SUCCESS: ${rules.length} rules found`);
    await inFolder(async (folder) => {
      const file = path.join(folder, 'panels.yaml');
      const recorded = panels.map(({ expr }, index) => ({ record: `panel_${index}`, expr: withoutVariables(expr) }));
      await writeFile(file, JSON.stringify({ groups: [{ name: 'panels', rules: recorded }] }));
      expect(await promtool(program, 'check', 'rules', file)).toContain(`SUCCESS: ${panels.length} rules found`);
    });
  });
});

/** Of promtool: the series that fires it, and the one that does not. */
function testsOf(alert: string): object[] {
  const { fires, quiet, at, count = 1 } = ALERT_CASES[alert] as AlertCase;
  return [
    { series: fires, firing: count },
    { series: quiet, firing: 0 },
  ].map(({ series, firing }) => ({
    name: `${alert} ${firing > 0 ? 'fires' : 'is quiet'}`,
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: (firing > 0 ? [at] : [at, 50]).map((minute) => ({
      expr: `count(ALERTS{alertname="${alert}", alertstate="firing"})`,
      eval_time: `${minute}m`,
      exp_samples: firing > 0 ? [{ labels: '{}', value: firing }] : [],
    })),
  }));
}

/** As Grafana fills them in. */
const withoutVariables = (expr: string): string =>
  expr.replaceAll('$__rate_interval', '5m').replaceAll('$__range', '1h');

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-rules-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
