import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import { missingForHelm } from '@slipway/testing/helm';
import { describeUnless } from '@slipway/testing/jest';
import { APPS as IMAGES } from '../../deploy/images/apps/app-list.ts';
import { EVERYTHING, type Manifest, MINIMUM, ofKind, ROOT, render, type Values } from './chart.ts';

const TRACED = ['app-server', 'runtime-api', 'worker'];
const ON: Values = { observability: { datadog: { enabled: true } } };
const at = (datadog: Values): Values => ({ observability: { datadog: { enabled: true, ...datadog } } });
const componentOf = ({ metadata }: Manifest): string => metadata.labels['app.kubernetes.io/component'];
const envOf = (deployment: Manifest): Map<string, Manifest> =>
  new Map(deployment.spec.template.spec.containers[0].env.map((one: Manifest) => [one.name, one]));

async function objectsWith(...values: Values[]): Promise<readonly Manifest[]> {
  const { code, objects, said } = await render([MINIMUM, ...values]);
  expect([code, code === 0 ? '' : said]).toEqual([0, '']);
  return objects;
}

describeUnless(missingForHelm())('Datadog in the chart', () => {
  let off: readonly Manifest[];
  let on: readonly Manifest[];
  beforeAll(async () => {
    [off, on] = await Promise.all([objectsWith(), objectsWith(ON)]);
  });
  const deployments = (objects: readonly Manifest[]): Manifest[] => ofKind(objects, 'Deployment');
  const deployment = (objects: readonly Manifest[], app: string): Manifest =>
    deployments(objects).find((one) => componentOf(one) === app);

  it('is nowhere when it is off', () =>
    expect(JSON.stringify(off)).not.toMatch(/datadog|DD_|NODE_OPTIONS|SLIPWAY_TRACES/i));

  it('is preloaded in the apps that have it in their image, and in no other', () => {
    const preloaded = deployments(on).filter((one) => envOf(one).has('NODE_OPTIONS'));
    expect(preloaded.map(componentOf).sort()).toEqual(TRACED);
    expect(TRACED).toEqual(
      Object.entries(IMAGES)
        .flatMap(([app, plan]) => ('datadog' in plan ? [app] : []))
        .sort(),
    );
    for (const one of preloaded)
      expect(envOf(one).get('NODE_OPTIONS')?.value).toBe('--import=file:///opt/slipway/datadog/preload.mjs');
    expect(existsSync(path.join(ROOT, 'deploy/images/apps/datadog/preload.mjs'))).toBe(true);
    for (const object of on)
      if (object.kind !== 'Deployment') expect(JSON.stringify(object)).not.toMatch(/NODE_OPTIONS|DD_AGENT/);
    expect(preloaded.filter((one) => envOf(one).has('SLIPWAY_TRACES_EDGE')).map(componentOf)).toEqual(['app-server']);
  });

  it('tags every app by env, service and version, which the variables are read from', () => {
    for (const one of deployments(on)) {
      const wanted = {
        env: 'production',
        service: `slipway-${componentOf(one)}`,
        version: expect.stringMatching(/^\d/),
      };
      for (const labels of [one.metadata.labels, one.spec.template.metadata.labels])
        expect({
          env: labels['tags.datadoghq.com/env'],
          service: labels['tags.datadoghq.com/service'],
          version: labels['tags.datadoghq.com/version'],
        }).toEqual(wanted);
      // A second tracer is never injected.
      expect(one.spec.template.metadata.labels['admission.datadoghq.com/enabled']).toBe('false');
      expect(one.spec.selector.matchLabels['tags.datadoghq.com/version']).toBeUndefined();
    }
    const env = envOf(deployment(on, 'worker'));
    for (const [name, tag] of [
      ['DD_ENV', 'env'],
      ['DD_SERVICE', 'service'],
      ['DD_VERSION', 'version'],
    ] as const)
      expect(env.get(name)?.valueFrom).toEqual({
        fieldRef: { fieldPath: `metadata.labels['tags.datadoghq.com/${tag}']` },
      });
    expect(env.get('DD_AGENT_HOST')?.value).toBe('datadog-agent.datadog.svc');
    expect(env.get('DD_TRACE_SAMPLE_RATE')?.value).toBe('0.1');
    expect(env.has('SLIPWAY_TRACES_KEEP_FAILURES')).toBe(false);
    expect(env.get('DD_PROFILING_ENABLED')?.value).toBe('false');
  });

  it('names metrics to the agent, never all, and the source of log lines', () => {
    const listed = JSON.parse(
      readFileSync(path.join(ROOT, 'helm/slipway/files/datadog/metrics.json'), 'utf8'),
    ) as string[];
    expect(listed.length).toBeGreaterThan(20);
    for (const name of listed) expect(name).toMatch(/^[a-z][a-z0-9_]+(?<!_total)$/);
    for (const one of deployments(on)) {
      const app = componentOf(one);
      expect(one.spec.template.spec.containers[0].name).toBe(app);
      const annotations = one.spec.template.metadata.annotations;
      const [instance] = JSON.parse(annotations[`ad.datadoghq.com/${app}.checks`]).openmetrics.instances;
      expect(instance).toEqual({
        openmetrics_endpoint: expect.stringMatching(/^http:\/\/%%host%%:\d+\/metrics$/),
        namespace: 'slipway',
        metrics: listed,
        collect_histogram_buckets: true,
        histogram_buckets_as_distributions: true,
        collect_counters_with_distributions: true,
        exclude_labels: ['service'],
      });
      expect(instance.openmetrics_endpoint).toContain(
        `:${one.spec.template.spec.containers[0].ports.find(({ name }: Manifest) => name === 'metrics').containerPort}/`,
      );
      expect(JSON.parse(annotations[`ad.datadoghq.com/${app}.logs`])).toEqual([
        { source: 'nodejs', service: `slipway-${app}` },
      ]);
    }
  });

  it('gives a traced app 128 MiB more, whatever unit its limit is in', async () => {
    const memory = (objects: readonly Manifest[], app: string): string =>
      deployment(objects, app).spec.template.spec.containers[0].resources.limits.memory;
    expect([memory(off, 'app-server'), memory(on, 'app-server')]).toEqual(['1Gi', '1152Mi']);
    expect(memory(on, 'web')).toBe(memory(off, 'web'));
    const other = await objectsWith(ON, {
      worker: { resources: { limits: { memory: '1.5Gi' } } },
      runtimeApi: { resources: { limits: { memory: '700Mi' } } },
    });
    expect([memory(other, 'worker'), memory(other, 'runtime-api')]).toEqual(['1664Mi', '828Mi']);
  });

  const waysToAgent = (objects: readonly Manifest[]): Record<string, Manifest> =>
    Object.fromEntries(
      ofKind(objects, 'NetworkPolicy')
        .filter(({ metadata }) => /-datadog$/.test(metadata.name))
        .map(({ spec }) => [spec.podSelector.matchLabels['app.kubernetes.io/component'], spec]),
    );

  it('opens the agent’s ports for exactly the apps that send', async () => {
    const ways = waysToAgent(on);
    expect(Object.keys(ways).sort()).toEqual(TRACED);
    const agents = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'datadog' } } }];
    for (const spec of Object.values(ways))
      expect([spec.policyTypes, spec.egress]).toEqual([
        ['Egress'],
        [{ to: agents, ports: [{ protocol: 'TCP', port: 8126 }] }],
      ]);
    const some = await objectsWith(
      at({ apps: ['worker'], runtimeMetrics: true, agent: { namespace: 'watch', port: 9126 } }),
    );
    expect(waysToAgent(some)).toEqual({
      worker: expect.objectContaining({
        egress: [
          {
            to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'watch' } } }],
            ports: [
              { protocol: 'TCP', port: 9126 },
              { protocol: 'UDP', port: 8125 },
            ],
          },
        ],
      }),
    });
  });

  it('finds the agent by its node, or where the cluster’s admission controller says', async () => {
    const node = await objectsWith(at({ agent: { mode: 'hostIP', nodeRanges: ['10.0.0.0/16'] } }));
    expect(envOf(deployment(node, 'worker')).get('DD_AGENT_HOST')?.valueFrom).toEqual({
      fieldRef: { fieldPath: 'status.hostIP' },
    });
    expect(waysToAgent(node)['worker'].egress[0].to).toEqual([{ ipBlock: { cidr: '10.0.0.0/16' } }]);
    const injected = await objectsWith(at({ agent: { mode: 'injected' } }));
    expect(envOf(deployment(injected, 'worker')).has('DD_AGENT_HOST')).toBe(false);
    const admission = (app: string): unknown =>
      deployment(injected, app).spec.template.metadata.labels['admission.datadoghq.com/enabled'];
    expect([admission('worker'), admission('llm-gateway')]).toEqual(['true', 'false']);
  });

  for (const [what, datadog, says] of [
    ['a gateway', { apps: ['llm-gateway'] }, 'apps/0'],
    ['the pages', { apps: ['web'] }, 'apps/0'],
    ['a rate above one', { sampleRate: 1.5 }, 'sampleRate'],
    ['nodes without ranges', { agent: { mode: 'hostIP' } }, 'nodeRanges'],
    ['a memory limit in an odd unit', { worker: true }, 'worker'],
  ] as const)
    it(`refuses ${what}`, async () => {
      const odd = 'worker' in datadog;
      const { code, said } = await render([
        MINIMUM,
        odd ? { ...ON, worker: { resources: { limits: { memory: '1Ti' } } } } : at(datadog),
      ]);
      expect(code).not.toBe(0);
      expect(said).toContain(says);
    });

  it('adds to what else there is, with everything on', async () => {
    const all = await objectsWith(EVERYTHING);
    const { annotations, labels } = deployment(all, 'worker').spec.template.metadata;
    expect([annotations.team, labels['example.com/team'], labels['tags.datadoghq.com/service']]).toEqual([
      'a',
      'a',
      'slipway-worker',
    ]);
  });
});
