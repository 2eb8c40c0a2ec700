// App images: their size, and from the start of a container on a read-only root to the first 200 of /alive. Needs root,
// for a chroot.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { migrateQueue } from '@slipway/queue/migrate';
import { createTestDatabase, freePort, type TestDatabase } from '@slipway/testing';
import { APP_UID, buildAppImage } from '../deploy/images/app-image.ts';
import type { AppName } from '../deploy/images/apps/app-list.ts';
import { appEnvironment } from '../tests/image/app-environment.ts';
import { startContainer } from '../tests/image/container.ts';
import { UnpackedImage } from '../tests/image/unpacked-image.ts';
import { percentile } from './measure/percentile.ts';
import { NEEDS_ROOT, NOT_QUICK, QUICK } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const MEASURED: readonly AppName[] = ['app-server', 'worker', 'runtime-api', 'llm-gateway', 'web'];
const N = 7;
const MIB = 2 ** 20;
/** Longest start. Milliseconds. */
const LIMIT_MS = 30_000;

export default async function run(report: Report): Promise<void> {
  if (QUICK) return report.note(`not measured: ${NOT_QUICK}, and builds no image`);
  if (process.getuid?.() !== 0) return report.note(NEEDS_ROOT);
  const database = await createTestDatabase({
    extra: { name: 'queue', prepare: (ownerUrl) => migrateQueue(ownerUrl, 'slipway_app') },
  });
  const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-image-start-'));
  try {
    for (const app of MEASURED) {
      const image = await buildAppImage(app, { signal: AbortSignal.timeout(10 * 60_000) });
      const unpacked = new UnpackedImage(image.archivePath);
      try {
        const starts: number[] = [];
        const floors: number[] = [];
        for (let index = 0; index < N; index += 1) {
          // The least that a container of that image does: Node, a port, an answer.
          const server = `require('http').createServer((q, s) => s.end()).listen(+process.env.PORT, '127.0.0.1')`;
          floors.push(await startOnce(unpacked, folder, app, database, ['node', '-e', server]));
          starts.push(await startOnce(unpacked, folder, app, database, unpacked.config.Entrypoint ?? []));
        }
        report.figure({
          figure: `${app}-start`,
          value: percentile(starts, 0.5),
          unit: 'ms',
          floor: percentile(floors, 0.5),
          n: N,
        });
        report.figure({ figure: `${app}-stored`, value: image.size / MIB, unit: 'MiB', n: 1 });
        report.figure({ figure: `${app}-unpacked`, value: image.unpacked / MIB, unit: 'MiB', n: 1 });
      } finally {
        unpacked.remove();
      }
    }
  } finally {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startOnce(
  { root, env }: UnpackedImage,
  folder: string,
  app: AppName,
  database: TestDatabase,
  command: readonly string[],
): Promise<number> {
  const temporary = path.join(folder, app);
  mkdirSync(temporary, { recursive: true });
  chmodSync(temporary, 0o1777);
  const port = await freePort();
  const environment = {
    ...env,
    ...appEnvironment(app, database),
    HOST: '127.0.0.1',
    HOSTNAME: '127.0.0.1',
    PORT: String(port),
    METRICS_PORT: '0',
    LOG_LEVEL: 'error',
  };
  const began = performance.now();
  const container = startContainer({
    root,
    uid: APP_UID,
    gid: APP_UID,
    volumes: { [temporary]: '/tmp' },
    env: environment,
    command,
  });
  try {
    while (performance.now() - began < LIMIT_MS) {
      const answer = await fetch(`http://127.0.0.1:${port}${app === 'web' ? '/login' : '/alive'}`).catch(() => null);
      await answer?.arrayBuffer();
      if (answer?.status === 200) return performance.now() - began;
      await wait(5);
    }
    throw new Error(`${app} did not answer within ${LIMIT_MS} ms:\n${container.output()}`);
  } finally {
    await container.stop();
  }
}
