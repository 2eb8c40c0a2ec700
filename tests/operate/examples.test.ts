import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { missingForHelm, openHelm } from '@slipway/testing/helm';
import { itUnless } from '@slipway/testing/jest';
import { parse, parseAllDocuments } from 'yaml';
import { APPS, isApp } from '../../deploy/images/apps/app-list.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const read = (file: string): Promise<string> => readFile(path.join(ROOT, file), 'utf8');
const run = promisify(execFile);

interface Service {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
}

jest.setTimeout(400_000);

/** Its egress-proxy asks nobody, so that no credential is brokered there. */
const NOT_IN_COMPOSE = 'credential-broker';

describe('deploy/compose', () => {
  let folder: string;
  let services: Readonly<Record<string, Service>>;
  let version: string;

  beforeAll(async () => {
    ({ version } = JSON.parse(await read('package.json')) as { version: string });
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-compose-'));
    await copyFile(path.join(ROOT, 'deploy/compose/make-env.sh'), path.join(folder, 'make-env.sh'));
    await run('sh', ['./make-env.sh', '172.18.0.1'], { cwd: folder });
    const env = new Map(
      [...(await readFile(path.join(folder, '.env'), 'utf8')).matchAll(/^(\w+)=(.*)$/gm)].map(
        ([, name = '', value = '']) => [name, value],
      ),
    );
    const text = (await read('deploy/compose/compose.yaml')).replace(/\$\{(\w+)(?::\?[^}]*)?\}/g, (_, name: string) => {
      const value = env.get(name);
      if (value === undefined) throw new Error(`compose.yaml uses ${name}, which make-env.sh does not make`);
      return value;
    });
    ({ services } = parse(text, { merge: true }) as { services: Record<string, Service> });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('has every app, from the images that npm run image makes, in this version, on its port', () => {
    expect(Object.keys(services).filter(isApp).sort()).toEqual(
      Object.keys(APPS)
        .filter((app) => app !== NOT_IN_COMPOSE)
        .sort(),
    );
    for (const [app, { port }] of Object.entries(APPS).filter(([name]) => name !== NOT_IN_COMPOSE)) {
      expect([app, services[app]?.image]).toEqual([app, `slipway/${app}:${version}`]);
      expect([app, services[app]?.environment?.['PORT']]).toEqual([app, String(port)]);
    }
    expect(services['migrations']?.image).toBe(`slipway/app-server:${version}`);
  });

  it('gives each app variables that docs/configuration.md has and its config.ts takes, made by make-env.sh', async () => {
    const reference = await read('docs/configuration.md');
    for (const app of Object.keys(APPS).filter((name) => name !== 'web' && name !== NOT_IN_COMPOSE)) {
      const { loadConfig } = (await import(path.join(ROOT, `apps/${app}/dist/config.js`))) as {
        loadConfig: (env: object) => unknown;
      };
      const given = services[app]?.environment ?? {};
      // Its section comes with `npm run generate`, once that knows the app; its config.ts judges it all the same.
      if (!reference.includes(`\n## ${app}\n`)) expect(app).toBe('sandbox-gateway');
      const known = [
        ...(reference.split(`\n## ${app}\n`)[1]?.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)` \|/gm),
      ].map(([, name = '']) => name);
      if (known.length > 0)
        expect([app, Object.keys(given).filter((name) => !known.includes(name))]).toEqual([app, []]);
      // A wrong one is named.
      loadConfig(given);
      const wrong = app === 'egress-proxy' ? 'EGRESS_SECRET' : 'DATABASE_URL';
      expect(() => loadConfig({ ...given, [wrong]: 'nowhere' })).toThrow(wrong);
    }
    const { loadMigrateConfig } = (await import(path.join(ROOT, 'apps/app-server/dist/operate/migrate/config.js'))) as {
      loadMigrateConfig: (env: object) => unknown;
    };
    loadMigrateConfig(services['migrations']?.environment ?? {});
  });

  it('does not write over secrets that are there', async () => {
    const before = await readFile(path.join(folder, '.env'), 'utf8');
    await expect(run('sh', ['./make-env.sh', '10.0.0.1'], { cwd: folder })).rejects.toThrow();
    expect(await readFile(path.join(folder, '.env'), 'utf8')).toBe(before);
  });
});

describe('deploy/kind', () => {
  it('is YAML, and its Secrets and hosts are those of its values', async () => {
    const documents = parseAllDocuments(await read('deploy/kind/beside.yaml'));
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    const objects = documents.map(
      (document) => document.toJS() as { kind: string; metadata: { name: string; namespace?: string } },
    );
    const values = parse(await read('deploy/kind/values.yaml')) as {
      postgresql: { host: string };
      redis: { host: string };
    };
    const hosts = objects
      .filter(({ kind }) => kind === 'Service')
      .map(({ metadata }) => `${metadata.name}.${metadata.namespace}.svc.cluster.local`);
    expect(hosts.sort()).toEqual([values.postgresql.host, values.redis.host].sort());
    expect((parse(await read('deploy/kind/cluster.yaml')) as { nodes: unknown[] }).nodes).toHaveLength(3);
  });

  const missing = missingForHelm();
  itUnless(missing)('the chart takes its values', async () => {
    const helm = await openHelm({ signal: AbortSignal.timeout(390_000) });
    const values = ['helm/slipway/values-small.yaml', 'deploy/kind/values.yaml'].flatMap((file) => [
      '-f',
      path.join(ROOT, file),
    ]);
    const set = [
      '--set',
      'oidc.issuerUrl=https://id.example.com/realms/slipway',
      '--set',
      `sandboxes.image.digest=sha256:${'0'.repeat(64)}`,
    ];
    const { stdout } = await run(
      helm.helm,
      ['template', 'slipway', path.join(ROOT, 'helm/slipway'), '-n', 'slipway', ...values, ...set],
      {
        maxBuffer: 2 ** 26,
      },
    );
    const deployments = parseAllDocuments(stdout)
      .map((document) => document.toJS() as { kind?: string; metadata?: { name: string } } | null)
      .flatMap((object) => (object?.kind === 'Deployment' ? [object.metadata?.name] : []));
    expect(deployments.sort()).toEqual(
      // credential-broker runs where an operator switches it on.
      Object.keys(APPS)
        .filter((app) => app !== 'credential-broker')
        .map((app) => `slipway-${app}`)
        .sort(),
    );
  });
});
