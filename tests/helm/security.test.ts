import { beforeAll, expect, it } from '@jest/globals';
import { missingForHelm } from '@slipway/testing/helm';
import { describeUnless } from '@slipway/testing/jest';
import { EVERYTHING, type Manifest, MINIMUM, OPEN_TEMPLATES, ofKind, podsOf, render, type Values } from './chart.ts';

/** egress-proxy is there where sandboxes of a template go out through it, as they do by default. */
const APPS = ['app-server', 'egress-proxy', 'llm-gateway', 'runtime-api', 'sandbox-gateway', 'web', 'worker'];
const KINDS: readonly {
  readonly name: string;
  readonly values: readonly Values[];
  readonly files?: readonly string[];
  readonly apps?: readonly string[];
}[] = [
  { name: 'the least values', values: [MINIMUM] },
  { name: 'everything on', values: [MINIMUM, EVERYTHING], apps: [...APPS, 'credential-broker'] },
  {
    name: 'sandboxes that reach every public address',
    values: [MINIMUM, { sandboxes: { templates: OPEN_TEMPLATES } }],
    apps: APPS.filter((app) => app !== 'egress-proxy'),
  },
  {
    name: 'whole URLs instead of parts',
    values: [
      MINIMUM,
      { postgresql: { existingSecret: 'urls' }, redis: { existingSecret: 'urls' }, secrets: { existingSecret: 'own' } },
    ],
  },
  ...['small', 'medium', 'large'].map((size) => ({
    name: `values-${size}.yaml`,
    values: [MINIMUM],
    files: [`values-${size}.yaml`],
  })),
];

for (const { name, values, files = [], apps = APPS } of KINDS)
  describeUnless(missingForHelm())(`the chart with ${name}`, () => {
    let objects: readonly Manifest[];
    let pods: ReturnType<typeof podsOf>;
    beforeAll(async () => {
      const rendered = await render(values, { files });
      expect([rendered.code, rendered.code === 0 ? '' : rendered.said]).toEqual([0, '']);
      objects = rendered.objects;
      pods = podsOf(objects);
      expect(pods.length).toBeGreaterThanOrEqual(10);
    });

    it('has a deployment of each app, with a service, a service account, a disruption budget and a network policy of its own', () => {
      const named = (kind: string): string[] =>
        ofKind(objects, kind).map(({ metadata }) => metadata.labels['app.kubernetes.io/component']);
      expect(named('Deployment').sort()).toEqual([...apps].sort());
      for (const kind of ['Service', 'PodDisruptionBudget', 'NetworkPolicy', 'ServiceAccount'])
        expect(named(kind)).toEqual(expect.arrayContaining([...apps]));
    });

    it('makes no object twice, and names each one of the whole cluster after the release', () => {
      const names = objects.map(
        ({ apiVersion, kind, metadata }) => `${apiVersion} ${kind} ${metadata.namespace ?? ''} ${metadata.name}`,
      );
      expect(names.filter((one, index) => names.indexOf(one) !== index)).toEqual([]);
      const prefix = ofKind(objects, 'Deployment')[0].metadata.name.replace(/-[a-z]+-?[a-z]*$/, '');
      const global = objects.filter(({ kind, metadata }) => metadata.namespace === undefined && kind !== 'Namespace');
      expect(global.length).toBeGreaterThan(8);
      for (const { metadata } of global) expect(metadata.name).toMatch(new RegExp(`^${prefix}-`));
    });

    it('asks for nothing that Pod Security `restricted` refuses, writes to no root, and bounds memory', () => {
      for (const { owner, spec } of pods) {
        const { runAsNonRoot, seccompProfile } = spec.securityContext;
        expect([owner, runAsNonRoot, seccompProfile]).toEqual([owner, true, { type: 'RuntimeDefault' }]);
        expect([owner, spec.hostNetwork, spec.hostPID, spec.hostIPC, spec.enableServiceLinks]).toEqual([
          owner,
          undefined,
          undefined,
          undefined,
          false,
        ]);
        // Of Secrets that are files there is one, in two pods: credential-broker has its key, runtime-api certificates.
        const files = /-(credential-broker|runtime-api)$/.test(owner);
        for (const volume of spec.volumes ?? [])
          expect([owner, Object.keys(volume).filter((key) => key !== 'name')]).toEqual([
            owner,
            [
              expect.stringMatching(
                files
                  ? /^(emptyDir|configMap|persistentVolumeClaim|secret)$/
                  : /^(emptyDir|configMap|persistentVolumeClaim)$/,
              ),
            ],
          ]);
        for (const container of [...spec.containers, ...(spec.initContainers ?? [])]) {
          expect([owner, container.securityContext]).toEqual([
            owner,
            expect.objectContaining({
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            }),
          ]);
          expect([owner, container.resources.limits.memory, container.resources.requests.cpu]).toEqual([
            owner,
            expect.anything(),
            expect.anything(),
          ]);
        }
      }
    });

    it('gives a token to runtime-api and to the preflight, and to no other pod', () => {
      const withToken = pods
        .filter(({ spec }) => spec.automountServiceAccountToken !== false)
        .map(({ owner }) => owner.replace(/ .*?-(?=runtime|pre)/, ' '));
      expect(withToken.sort()).toEqual(['Deployment runtime-api', 'Job preflight']);
    });

    it('has no secret in an environment, an argument or a ConfigMap: what is random stands in its Secret alone', () => {
      const secrets = ofKind(objects, 'Secret').flatMap(({ data }) => Object.values(data as Record<string, string>));
      const elsewhere = JSON.stringify(objects.filter(({ kind }) => kind !== 'Secret'));
      for (const value of secrets)
        for (const form of [value, Buffer.from(value, 'base64').toString()]) expect(elsewhere).not.toContain(form);
      for (const { owner, spec } of pods)
        for (const { env = [] } of spec.containers)
          for (const { name: variable, value } of env)
            if (/(PASSWORD|SECRET|(?<!LEVEL_)KEY|TOKEN)$/.test(variable))
              expect([owner, variable, value]).toEqual([owner, variable, undefined]);
            else if (/^(DATABASE|REDIS).*URL$/.test(variable) && value !== undefined)
              expect(value).toMatch(/:\/\/[^:@]*:\$\([A-Z_]+\)@|^rediss?:\/\/[^@]+$/);
    });

    it('probes each app on /alive and /ready, drains it before it ends, and takes no pod away before its successor is ready', () => {
      for (const { metadata, spec } of ofKind(objects, 'Deployment')) {
        const app = metadata.labels['app.kubernetes.io/component'];
        const [container] = spec.template.spec.containers;
        expect([
          app,
          container.livenessProbe.httpGet.path,
          container.readinessProbe.httpGet.path,
          container.startupProbe.httpGet.path,
        ]).toEqual([app, '/alive', '/ready', '/alive']);
        expect([app, spec.strategy.rollingUpdate.maxUnavailable]).toEqual([app, 0]);
        expect(spec.template.spec.topologySpreadConstraints.length).toBeGreaterThan(0);
        // Nothing is sent to worker: its jobs end, or go back, by themselves.
        if (app === 'worker') continue;
        const drain = Number(
          container.env.find((one: Manifest) => one.name === 'DRAIN_SECONDS')?.value ??
            container.lifecycle?.preStop.sleep.seconds,
        );
        expect([app, drain]).toEqual([app, expect.any(Number)]);
        expect(drain).toBeGreaterThan(0);
        expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(drain + 32);
      }
    });

    it('serves metrics on a port that only the monitoring reaches, least of all a sandbox or an ingress', () => {
      for (const { metadata, spec } of ofKind(objects, 'Deployment')) {
        const [{ env, ports }] = spec.template.spec.containers;
        const port = ports.find((one: Manifest) => one.name === 'metrics')?.containerPort;
        expect([metadata.name, port, env.find((one: Manifest) => one.name === 'METRICS_PORT')?.value]).toEqual([
          metadata.name,
          9464,
          '9464',
        ]);
      }
      for (const { spec } of ofKind(objects, 'Ingress'))
        for (const rule of spec.rules)
          for (const { backend } of rule.http.paths) expect(backend.service.port).toEqual({ name: 'http' });
      for (const { metadata, spec } of ofKind(objects, 'NetworkPolicy')) {
        const toMetrics = (spec.ingress ?? []).filter(({ ports = [{}] }: Manifest) =>
          ports.some(({ port }: Manifest) => port === undefined || port === 9464),
        );
        for (const { from = [{}] } of metadata.namespace === 'slipway' ? toMetrics : [])
          for (const peer of from)
            expect([metadata.name, peer.namespaceSelector?.matchExpressions]).toEqual([
              metadata.name,
              [expect.objectContaining({ operator: 'NotIn' })],
            ]);
      }
    });

    it('has two replicas of everything, by number or by autoscaler', () => {
      const scaled = new Map(
        ofKind(objects, 'HorizontalPodAutoscaler').map(({ spec }) => [spec.scaleTargetRef.name, spec.minReplicas]),
      );
      for (const { metadata, spec } of ofKind(objects, 'Deployment')) {
        expect(scaled.has(metadata.name)).toBe(spec.replicas === undefined);
        expect(spec.replicas ?? scaled.get(metadata.name)).toBeGreaterThanOrEqual(2);
      }
    });

    it('selects each pod by exactly one Deployment, and every platform pod by the default deny', () => {
      const selects = (selector: Record<string, string>, labels: Record<string, string>): boolean =>
        Object.entries(selector).every(([key, value]) => labels[key] === value);
      const deployments = ofKind(objects, 'Deployment');
      for (const { metadata } of pods.filter(({ kind }) => kind === 'Deployment'))
        expect(deployments.filter(({ spec }) => selects(spec.selector.matchLabels, metadata.labels))).toHaveLength(1);
      const deny = ofKind(objects, 'NetworkPolicy').find(({ metadata }) => metadata.name.endsWith('-default-deny'));
      expect([deny?.spec.policyTypes, deny?.spec.ingress, deny?.spec.egress]).toEqual([
        ['Ingress', 'Egress'],
        undefined,
        undefined,
      ]);
      for (const { owner, metadata } of pods)
        expect([owner, selects(deny.spec.podSelector.matchLabels, metadata.labels)]).toEqual([owner, true]);
    });

    it('runs preflight, then the secrets, then migrations, all before anything else', () => {
      const weight = (kind: string, part: string): number =>
        Number(
          ofKind(objects, kind).find(
            ({ metadata }) => metadata.name.includes(part) && metadata.annotations?.['helm.sh/hook'] !== undefined,
          )?.metadata.annotations['helm.sh/hook-weight'],
        );
      const order = [
        weight('ServiceAccount', 'preflight'),
        weight('Job', 'preflight'),
        ...(ofKind(objects, 'Secret').length > 0 ? [weight('Secret', 'secrets')] : []),
        weight('Job', 'migrations'),
      ];
      expect(order).toEqual([...order].sort((a, b) => a - b));
      expect(order.every((one) => one < 0)).toBe(true);
    });
  });
