import { beforeAll, expect, it } from '@jest/globals';
import { missingForHelm } from '@slipway/testing/helm';
import { describeUnless } from '@slipway/testing/jest';
import { parse } from 'yaml';
import { EVERYTHING, type Manifest, MINIMUM, ofKind, podsOf, render, type Values } from './chart.ts';

const ok = async (...values: readonly Values[]): Promise<readonly Manifest[]> => {
  const { code, said, objects } = await render([MINIMUM, ...values]);
  expect([code, code === 0 ? '' : said]).toEqual([0, '']);
  return objects;
};
const component = (objects: readonly Manifest[], kind: string, name: string): Manifest =>
  ofKind(objects, kind).find(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === name);
const containerOf = (workload: Manifest): Manifest => workload.spec.template.spec.containers[0];
const environment = (workload: Manifest): [string, string | undefined][] =>
  containerOf(workload).env.map(({ name, value }: Manifest) => [name, value]);

describeUnless(missingForHelm())('what operators add to the chart', () => {
  let everything: readonly Manifest[];
  beforeAll(async () => {
    everything = await ok(EVERYTHING);
  });

  it('is in the pods of every app and job: variables, their sources, volumes and mounts', () => {
    const workloads = [...ofKind(everything, 'Deployment'), ...ofKind(everything, 'Job')];
    expect(workloads.length).toBe(10);
    for (const workload of workloads) {
      const { env, envFrom, volumeMounts } = containerOf(workload);
      const name = workload.metadata.name;
      expect([name, env]).toEqual([name, expect.arrayContaining([{ name: 'EXTRA', value: 'of all' }])]);
      expect([name, envFrom]).toEqual([name, [{ configMapRef: { name: 'more' } }]]);
      expect([name, volumeMounts]).toEqual([
        name,
        expect.arrayContaining([{ name: 'scratch', mountPath: '/scratch' }]),
      ]);
      expect([name, workload.spec.template.spec.volumes]).toEqual([
        name,
        expect.arrayContaining([{ name: 'scratch', emptyDir: {} }]),
      ]);
    }
  });

  it('of one app is added to that of all, and a name that the chart sets stands once, as the operator wants it', async () => {
    const objects = await ok({
      pods: { extraEnv: [{ name: 'EXTRA', value: 'of all' }] },
      worker: { pod: { extraEnv: [{ name: 'MAX_ITERATIONS', value: '7' }] } },
    });
    const worker = environment(component(objects, 'Deployment', 'worker'));
    expect(worker.filter(([name]) => ['EXTRA', 'MAX_ITERATIONS'].includes(name))).toEqual([
      ['MAX_ITERATIONS', '7'],
      ['EXTRA', 'of all'],
    ]);
    for (const workload of [...ofKind(everything, 'Deployment'), ...ofKind(everything, 'Job')]) {
      const names = environment(workload).map(([name]) => name);
      expect(names.filter((one, index) => names.indexOf(one) !== index)).toEqual([]);
    }
  });

  it('has its labels on every object, and none in a selector', () => {
    const label = 'example.com/cost-centre';
    for (const { kind, metadata } of everything)
      expect([kind, metadata.name, metadata.labels?.[label]]).toEqual([kind, metadata.name, '7']);
    for (const { owner, metadata } of podsOf(everything).filter(({ kind }) => ['Deployment', 'Job'].includes(kind)))
      expect([owner, metadata.labels[label]]).toEqual([owner, '7']);
    for (const { spec } of ofKind(everything, 'Deployment')) expect(JSON.stringify(spec.selector)).not.toContain(label);
    for (const { metadata } of ofKind(everything, 'Deployment'))
      expect(metadata.annotations).toEqual({ 'reloader.example.com/auto': 'true' });
  });

  it('is installed with the release: objects, and templates of objects', async () => {
    const one = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } };
    const two = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: "{{ .Release.Name }}-two" }\n';
    const names = ofKind(await ok({ extraObjects: [one, two] }), 'ConfigMap').map(({ metadata }) => metadata.name);
    expect(names).toEqual(expect.arrayContaining(['one', 'slipway-two']));
  });

  it('leaves user and groups to the cluster where they are null, as OpenShift wants it, and stays restricted', async () => {
    const objects = await ok({ pods: { securityContext: { runAsUser: null, runAsGroup: null, fsGroup: null } } });
    expect(podsOf(objects).length).toBeGreaterThan(8);
    for (const { owner, spec } of podsOf(objects)) {
      const { runAsUser, runAsGroup, fsGroup, runAsNonRoot, seccompProfile } = spec.securityContext;
      expect([owner, runAsUser, runAsGroup, fsGroup]).toEqual([owner, undefined, undefined, undefined]);
      expect([owner, runAsNonRoot, seccompProfile]).toEqual([owner, true, { type: 'RuntimeDefault' }]);
    }
    const large = await ok({ pods: { securityContext: { runAsUser: 1_000_660_000 } } });
    expect(component(large, 'Deployment', 'web').spec.template.spec.securityContext.runAsUser).toBe(1_000_660_000);
  });
});

describeUnless(missingForHelm())('who gives way on full nodes', () => {
  const templatesOf = (objects: readonly Manifest[]): Manifest[] =>
    parse(
      ofKind(objects, 'ConfigMap').find(({ metadata }) => metadata.name.endsWith('-templates')).data['templates.yaml'],
    );

  it('is a sandbox, for any pod of the platform, and it evicts none', async () => {
    const objects = await ok();
    const classes = new Map(ofKind(objects, 'PriorityClass').map((one) => [one.metadata.name, one]));
    expect([...classes.keys()].sort()).toEqual(['slipway-platform', 'slipway-sandboxes']);
    const [platform, sandboxes] = [classes.get('slipway-platform'), classes.get('slipway-sandboxes')];
    expect(platform.value).toBeGreaterThan(0);
    expect(sandboxes.value).toBeLessThan(0);
    // Below, a cluster autoscaler makes no node for them.
    expect(sandboxes.value).toBeGreaterThanOrEqual(-10);
    expect([platform.preemptionPolicy, sandboxes.preemptionPolicy]).toEqual(['PreemptLowerPriority', 'Never']);
    for (const { metadata, spec } of ofKind(objects, 'Deployment'))
      expect([metadata.name, spec.template.spec.priorityClassName]).toEqual([metadata.name, 'slipway-platform']);
    expect(templatesOf(objects).map(({ priorityClassName }) => priorityClassName)).toEqual(['slipway-sandboxes']);
  });

  it('is what classes say that are there already, and what an app and a template name by themselves', async () => {
    const own = {
      priorityClasses: { platform: { create: false, name: 'high' }, sandboxes: { create: false } },
      web: { pod: { priorityClassName: 'low' } },
    };
    const objects = await ok(own);
    expect(ofKind(objects, 'PriorityClass')).toEqual([]);
    const priority = (app: string): string =>
      component(objects, 'Deployment', app).spec.template.spec.priorityClassName;
    expect([priority('worker'), priority('web')]).toEqual(['high', 'low']);
    expect(templatesOf(objects)[0]).not.toHaveProperty('priorityClassName');
  });

  it('is counted by label, so that a claim moves a sandbox into the budget of those in use', async () => {
    const budget = ofKind(
      await ok({ sandboxes: { podDisruptionBudget: { enabled: true } } }),
      'PodDisruptionBudget',
    ).find(({ metadata }) => metadata.namespace === 'slipway-sandboxes');
    expect(budget.spec.selector).toEqual({ matchExpressions: [{ key: 'slipway.dev/claim', operator: 'Exists' }] });
    // A budget of pods without a controller counts by a whole number alone.
    expect([typeof budget.spec.minAvailable, budget.spec.maxUnavailable]).toEqual(['number', undefined]);
  });
});

describeUnless(missingForHelm())('what good neighbours of the chart get', () => {
  it('an HTTPRoute for each host, beside or in place of the Ingress', async () => {
    const routes = ofKind(await ok(EVERYTHING), 'HTTPRoute');
    expect(routes.map(({ spec }) => [spec.hostnames, spec.rules[0].backendRefs, spec.parentRefs])).toEqual([
      [['slipway.example.com'], [{ name: 'acme-app-server', port: 3000 }], [{ name: 'public', namespace: 'gateways' }]],
      [
        ['sandboxes.example.com', '*.sandboxes.example.com'],
        [{ name: 'acme-sandbox-gateway', port: 3006 }],
        [{ name: 'public', namespace: 'gateways' }],
      ],
    ]);
  });

  it('alerts whose runbook_url is an address', async () => {
    const urls = (objects: readonly Manifest[]): string[] =>
      ofKind(objects, 'PrometheusRule')[0]
        .spec.groups.flatMap(({ rules }: Manifest) => rules)
        .flatMap(({ annotations }: Manifest) => annotations?.runbook_url ?? []);
    const absolute = urls(await ok(EVERYTHING));
    expect(absolute.length).toBeGreaterThan(10);
    for (const url of absolute)
      expect(url).toMatch(/^https:\/\/git\.example\.com\/slipway\/docs\/operate\/alerts\.md#slipway\w+$/);
  });

  it('an autoscaler that reads the queue, too', async () => {
    const queue = {
      type: 'External',
      external: { metric: { name: 'slipway_outbox_jobs' }, target: { type: 'AverageValue', averageValue: '20' } },
    };
    const objects = await ok({ worker: { autoscaling: { enabled: true, metrics: [queue] } } });
    const { metrics } = component(objects, 'HorizontalPodAutoscaler', 'worker').spec;
    expect(metrics).toEqual([expect.objectContaining({ type: 'Resource' }), queue]);
  });
});
