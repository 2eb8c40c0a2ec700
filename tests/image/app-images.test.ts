import assert from 'node:assert/strict';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { migrateQueue } from '@slipway/queue/migrate';
import { createTestDatabase, freePort, type TestDatabase, until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import pg from 'pg';
import { TestAuthority } from '../../apps/credential-broker/dist/testing/test-authority.js';
import { APP_UID, type AppImage, buildAppImage } from '../../deploy/images/app-image.ts';
import { APP_NAMES, APPS, type AppName } from '../../deploy/images/apps/app-list.ts';
import { basePackages } from '../../deploy/images/apps/base-layer.ts';
import { checkAppArchive } from '../../deploy/images/check.ts';
import { parseLock } from '../../deploy/images/image-lock.ts';
import { ROOT } from '../../deploy/images/image-parts.ts';
import { imageCacheFolder } from '../../deploy/images/layer-cache.ts';
import { LOCK_FILE } from '../../deploy/images/sandbox-image.ts';
import { unpackArchive } from '../../deploy/images/unpack-archive.ts';
import { appEnvironment } from './app-environment.ts';
import { type ContainerPlan, type RunningContainer, startContainer } from './container.ts';
import { UnpackedImage } from './unpacked-image.ts';

const signal = AbortSignal.timeout(10 * 60_000);
const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
/** Bytes of an archive, and of an image's files: Node alone is 127 MB of them. */
const LIMITS: Readonly<Record<AppName, readonly [stored: number, unpacked: number]>> = {
  'app-server': [61e6, 189e6],
  worker: [58e6, 179e6],
  'runtime-api': [58e6, 184e6],
  'llm-gateway': [50e6, 150e6],
  'sandbox-gateway': [50e6, 150e6],
  'egress-proxy': [50e6, 150e6],
  'credential-broker': [50e6, 150e6],
  web: [65e6, 190e6],
};
const root = process.getuid?.() === 0 ? false : 'the images are run below a chroot, which needs root';
/** What there is of an app in this checkout, in words, when it cannot be made into an image. */
const missing = (app: AppName): string | false =>
  Object.values(APPS[app].programs).some((entry: string) => !existsSync(path.join(ROOT, entry)))
    ? `apps/${app} has no program in this checkout`
    : false;

describeUnless(root)('the images of the apps', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-app-images-'));
  const lower = path.join(folder, 'lower');
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase({
      extra: { name: 'queue', prepare: (ownerUrl) => migrateQueue(ownerUrl, 'slipway_app') },
    });
  });
  afterAll(async () => {
    await database?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** As a pod of the chart: the image's own user, a read-only root, an emptyDir at /tmp. */
  function planOf(
    name: string,
    { root: at, env, config }: UnpackedImage,
    more: Readonly<Record<string, string>>,
    command = config.Entrypoint ?? [],
  ): ContainerPlan {
    const temporary = path.join(folder, name);
    mkdirSync(temporary, { recursive: true });
    chmodSync(temporary, 0o1777);
    return {
      root: at,
      uid: APP_UID,
      gid: APP_UID,
      volumes: { [temporary]: '/tmp' },
      env: { ...env, ...more },
      command,
    };
  }

  for (const app of APP_NAMES) {
    describeUnless(missing(app))(app, () => {
      let image: AppImage;
      let unpacked: UnpackedImage;
      beforeAll(async () => {
        image = await buildAppImage(app, { signal });
        if (!existsSync(lower)) {
          mkdirSync(lower);
          unpackArchive(image.archivePath, lower, (place) => place < 2);
        }
        unpacked = new UnpackedImage(image.archivePath, lower);
      });
      afterAll(() => unpacked?.remove());

      it('is as its check asks: one user that is not root, nothing to run but Node, no secret, a bill of materials', async () => {
        assert.deepEqual((await checkAppArchive(image.archivePath, architecture, signal)).missing, []);
      });

      it('is no larger than it has to be', () => {
        const [stored, whole] = LIMITS[app];
        assert.ok(
          image.size < stored && image.unpacked < whole,
          `${image.size} bytes stored, ${image.unpacked} unpacked`,
        );
      });

      it('has its bill of materials and its licences beside the archive too', () => {
        for (const [at, name] of [
          [image.billPath, 'sbom.cdx.json'],
          [image.licencesPath, 'LICENSES.txt'],
        ] as const)
          assert.equal(
            readFileSync(at, 'utf8'),
            readFileSync(path.join(unpacked.root, 'usr/share/doc/slipway', name), 'utf8'),
          );
      });

      const datadog = (): string => path.join(unpacked.root, 'opt/slipway/datadog');
      const preload = {
        NODE_OPTIONS: '--import=file:///opt/slipway/datadog/preload.mjs',
        DD_TRACE_AGENT_URL: 'http://127.0.0.1:9',
      };
      const traced = 'datadog' in APPS[app];
      it(`has ${traced ? 'dd-trace' : 'no tracer'}`, () => assert.equal(existsSync(datadog()), traced));

      const ways: readonly (readonly [how: string, variables: Readonly<Record<string, string>>])[] = [
        ...(traced ? [['with dd-trace preloaded, ', preload] as const] : []),
        ['', {}],
      ];
      for (const [how, variables] of app === 'sandbox-gateway' ? [] : ways)
        it(`answers /alive ${how}from a container that may write to /tmp alone`, async () => {
          // Off, not one byte of it is read: it may as well not be there.
          if (how === '') rmSync(datadog(), { recursive: true, force: true });
          const port = await freePort();
          const environment = {
            ...appEnvironment(app, database),
            HOST: '127.0.0.1',
            HOSTNAME: '127.0.0.1',
            PORT: String(port),
            METRICS_PORT: '0',
            LOG_LEVEL: 'info',
            ...variables,
          };
          const plan = planOf(app, unpacked, environment);
          if (app === 'credential-broker') {
            const { cert, key } = await TestAuthority.make('An authority of tests');
            writeFileSync(path.join(folder, app, 'ca.crt'), cert);
            writeFileSync(path.join(folder, app, 'ca.key'), key);
          }
          const container = startContainer(plan);
          try {
            const answer = await firstAnswer(
              container,
              `http://127.0.0.1:${port}${app === 'web' ? '/login' : '/alive'}`,
            );
            assert.equal(answer.status, 200, container.output());
            assert.doesNotMatch(container.output(), /EROFS|EACCES/);
          } finally {
            await container.stop();
          }
        });

      if (app !== 'web')
        it('names every variable that is missing, and ends', async () => {
          const container = startContainer(planOf(`${app}-bare`, unpacked, {}));
          assert.equal(await container.ended, 1);
          assert.match(container.output(), /configuration:\n\s+[A-Z_]+: /);
        });

      if (app === 'app-server')
        it('brings an empty database to the newest migration, from two containers at once, and finds nothing to do after that', async () => {
          const name = `empty_${process.pid}_${Date.now()}`;
          const admin = new pg.Client({ connectionString: database.ownerUrl });
          await admin.connect();
          await admin.query(`CREATE DATABASE ${name}`);
          const at = (url: string): string => Object.assign(new URL(url), { pathname: `/${name}` }).href;
          const variables = {
            DATABASE_OWNER_URL: at(database.ownerUrl),
            DATABASE_APP_URL: at(database.urls.app),
            DATABASE_RUNTIME_URL: at(database.urls.runtime),
            DATABASE_GATEWAY_URL: at(database.urls.gateway),
            DATABASE_SANDBOX_URL: at(database.urls.sandbox),
          };
          const migrate = (who: string): RunningContainer =>
            startContainer(planOf(who, unpacked, variables, ['node', '/opt/slipway/migrate.js']));
          try {
            const both = [migrate('first'), migrate('second')];
            for (const one of both) assert.equal(await one.ended, 0, one.output());
            const again = migrate('third');
            assert.equal(await again.ended, 0, again.output());
            assert.match(again.output(), /database is at the newest migration/);
            const client = new pg.Client({ connectionString: at(database.ownerUrl) });
            await client.connect();
            const { rows } = await client.query(
              'SELECT migration_name FROM app._prisma_migrations WHERE finished_at IS NOT NULL ORDER BY 1',
            );
            const functions = await client.query('SELECT name FROM runtime._slipway_functions ORDER BY 1');
            await client.end();
            assert.deepEqual(
              functions.rows.map((row) => `${row.name}.sql`),
              globSync('*.sql', { cwd: path.join(ROOT, 'prisma/runtime/functions') }).sort(),
            );
            assert.deepEqual(
              rows.map((row) => row.migration_name),
              globSync('*/migration.sql', { cwd: path.join(ROOT, 'prisma/app/migrations') })
                .map(path.dirname)
                .sort(),
            );
          } finally {
            await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
            await admin.end();
          }
        });
    });
  }

  it('are the same to the byte when they are made again in another cache, and nothing is made when nothing changed', async () => {
    const cache = path.join(folder, 'cache');
    // What comes over the network is taken along, and Node's layer, which takes the longest and is one file of npm's.
    mkdirSync(path.join(cache, 'debs'), { recursive: true });
    for (const { sha256 } of basePackages(parseLock(readFileSync(LOCK_FILE, 'utf8'))))
      copyInto(cache, `debs/${sha256}.deb`);
    const one = await buildAppImage('llm-gateway', { signal });
    for (const name of readdirSync(path.join(imageCacheFolder(), 'layers')))
      if (name.startsWith('app-node-')) copyInto(cache, `layers/${name}`);
    const other = await buildAppImage('llm-gateway', { signal, cache });
    assert.deepEqual(other.made, ['Debian bookworm: libraries for Node', 'llm-gateway']);
    assert.equal(other.digest, one.digest);
    assert.ok(readFileSync(other.archivePath).equals(readFileSync(one.archivePath)), 'the archives differ');
    assert.deepEqual((await buildAppImage('llm-gateway', { signal, cache })).made, []);
  });
});

function copyInto(cache: string, name: string): void {
  cpSync(path.join(imageCacheFolder(), name), path.join(cache, name), { recursive: true });
}

/** The first answer, or the sentence with which the container ended. */
async function firstAnswer(container: RunningContainer, url: string): Promise<Response> {
  let ended: number | string | undefined;
  void container.ended.then((code) => {
    ended = code;
  });
  return until(
    `an answer at ${url}`,
    async () => {
      if (ended !== undefined) return new Response(`ended with ${ended}`, { status: 503 });
      return await fetch(url, { signal: AbortSignal.timeout(5_000) });
    },
    30_000,
  );
}
