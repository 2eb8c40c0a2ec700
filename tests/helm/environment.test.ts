import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, it } from '@jest/globals';
import { missingForHelm } from '@slipway/testing/helm';
import { describeUnless } from '@slipway/testing/jest';
import { EVERYTHING, type Manifest, MINIMUM, ofKind, ROOT, render, type Values } from './chart.ts';

type Environment = Readonly<Record<string, string>>;
interface Config {
  loadConfig?(source: Environment): unknown;
  loadMigrateConfig?(source: Environment): unknown;
}

/** What a Secret of the operator's holds, where an app checks its form. */
const THERE_BEFORE: Environment = {
  SMTP_URL: 'smtps://user:password@mail.example.com:465',
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc',
  INTEGRATION_APP_SECRETS: '{"github": ["of-the-app-of-the-platform"]}',
  INTEGRATION_APPS:
    '{"github": {"id": 1, "slug": "slipway", "clientId": "Iv1", "clientSecret": "s", "privateKey": "-----BEGIN RSA PRIVATE KEY-----\\nMII\\n-----END RSA PRIVATE KEY-----"}}',
};

/** What a kubelet gives the first container of a pod: secrets filled in, `$(NAME)` expanded. */
function environmentOf(workload: Manifest, secrets: ReadonlyMap<string, Environment>): Environment {
  const env: Record<string, string> = { KUBERNETES_SERVICE_HOST: '10.96.0.1' };
  for (const { name, value, valueFrom } of workload.spec.template.spec.containers[0].env) {
    const reference = valueFrom?.secretKeyRef;
    if (reference === undefined)
      env[name] = (value ?? 'a-name').replaceAll(/\$\(([A-Z_]+)\)/g, (_: string, of: string) => env[of] ?? '');
    else
      env[name] =
        Buffer.from(secrets.get(reference.name)?.[reference.key] ?? '', 'base64').toString() ||
        THERE_BEFORE[name] ||
        'of-a-secret-that-is-there-before-the-chart';
  }
  return env;
}
const load = async (file: string): Promise<Config> =>
  (await import(pathToFileURL(path.join(ROOT, file)).href)) as Config;

for (const [name, values] of [
  ['the least values', [MINIMUM]],
  ['everything on', [MINIMUM, EVERYTHING]],
] as const satisfies readonly (readonly [string, readonly Values[]])[])
  describeUnless(missingForHelm())(`the environment that the chart gives with ${name}`, () => {
    let objects: readonly Manifest[];
    let secrets: ReadonlyMap<string, Environment>;
    beforeAll(async () => {
      ({ objects } = await render(values));
      secrets = new Map(ofKind(objects, 'Secret').map(({ metadata, data }) => [metadata.name, data]));
    });
    const workload = (kind: string, component: string): Manifest =>
      ofKind(objects, kind).find(({ metadata }) => metadata.labels['app.kubernetes.io/component'] === component);

    for (const app of [
      'app-server',
      'worker',
      'runtime-api',
      'llm-gateway',
      'sandbox-gateway',
      'egress-proxy',
      ...(name === 'everything on' ? ['credential-broker'] : []),
    ])
      it(`is one that ${app} starts with`, async () => {
        const env = environmentOf(workload('Deployment', app), secrets);
        const { loadConfig } = await load(`apps/${app}/dist/config.js`);
        expect(loadConfig?.(env)).toMatchObject({ NODE_ENV: 'production', HOST: '0.0.0.0' });
      });

    if (name === 'everything on')
      it('has the models in a file that llm-gateway takes, and their keys in variables of a Secret', async () => {
        const { ModelsFile } = (await import(
          pathToFileURL(path.join(ROOT, 'apps/llm-gateway/dist/routing/models-file.js')).href
        )) as {
          ModelsFile: { parse(value: unknown): unknown };
        };
        const gateway = workload('Deployment', 'llm-gateway');
        const [{ data }] = ofKind(objects, 'ConfigMap').filter(({ metadata }) => metadata.name === 'acme-models');
        const { name: variable, valueFrom } = gateway.spec.template.spec.containers[0].env.find(
          ({ name: its }: Manifest) => its === 'ANTHROPIC_API_KEY',
        );
        expect([variable, valueFrom]).toEqual([
          'ANTHROPIC_API_KEY',
          { secretKeyRef: { name: 'models', key: 'anthropic' } },
        ]);
        expect(ModelsFile.parse(JSON.parse(data['models.json']))).toMatchObject({
          models: [{ name: 'sonnet', strategy: 'weighted' }],
        });
        expect(JSON.stringify(gateway.spec.template.spec.containers[0].volumeMounts)).toContain('/etc/slipway/models');
      });

    if (name === 'everything on')
      it('sends calls to the outside by the proxy, and none to a service of the cluster', () => {
        for (const app of ['app-server', 'worker', 'runtime-api', 'llm-gateway', 'sandbox-gateway', 'web']) {
          const env = environmentOf(workload('Deployment', app), secrets);
          expect(env).toMatchObject({
            NODE_USE_ENV_PROXY: '1',
            HTTP_PROXY: 'http://proxy:3128',
            HTTPS_PROXY: 'http://proxy:3128',
            NODE_EXTRA_CA_CERTS: expect.any(String),
          });
          const direct = (env['NO_PROXY'] ?? '').split(',');
          const called = Object.values(env).flatMap(
            (value) => /^http:\/\/([^:/]+\.svc\.[^:/]+)/.exec(value)?.[1] ?? [],
          );
          if (app !== 'web' && app !== 'runtime-api' && app !== 'llm-gateway') expect(called.length).toBeGreaterThan(0);
          for (const host of called)
            expect([host, direct.some((suffix) => suffix.startsWith('.') && host.endsWith(suffix))]).toEqual([
              host,
              true,
            ]);
        }
      });

    it('is one that migrations start with', async () => {
      const { loadMigrateConfig } = await load('apps/app-server/dist/operate/migrate/config.js');
      expect(loadMigrateConfig?.(environmentOf(workload('Job', 'migrations'), secrets))).toMatchObject({
        DATABASE_OWNER_URL: expect.stringContaining('//slipway:'),
      });
    });
  });
