import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, it } from '@jest/globals';
import { freePort, until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import pg from 'pg';
import { identityImage } from '../../deploy/cluster/images/identity-image.ts';
import { POSTGRES_USER, postgresImage } from '../../deploy/cluster/images/postgres-image.ts';
import type { TestImage } from '../../deploy/cluster/images/programs-image.ts';
import { redisImage } from '../../deploy/cluster/images/redis-image.ts';
import { type RunningContainer, startContainer } from './container.ts';
import { UnpackedImage } from './unpacked-image.ts';

const signal = AbortSignal.timeout(5 * 60_000);
const skip = process.getuid?.() === 0 ? false : 'the images are run below a chroot, which needs root';

describeUnless(skip)('the images of what an installation in a test stands on', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-test-images-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** As a pod would: not root, a read-only root, emptyDirs at /tmp and, where there is one, /data. */
  async function withContainer(
    image: TestImage,
    run: { env?: Readonly<Record<string, string>>; args?: readonly string[]; data: 'with data' | 'without data' },
    use: (container: RunningContainer) => Promise<void>,
  ): Promise<void> {
    const unpacked = new UnpackedImage(image.archivePath);
    const place = (name: string): string => {
      const at = path.join(unpacked.folder, name);
      mkdirSync(at);
      chmodSync(at, 0o1777);
      return at;
    };
    chmodSync(unpacked.folder, 0o755);
    const container = startContainer({
      root: unpacked.root,
      uid: 10_001,
      gid: 10_001,
      volumes: { [place('tmp')]: '/tmp', ...(run.data === 'with data' ? { [place('data')]: '/data' } : {}) },
      env: { ...unpacked.env, ...run.env },
      command: [...(unpacked.config.Entrypoint ?? []), ...(run.args ?? [])],
    });
    try {
      await use(container);
    } catch (error) {
      throw new Error(`${image.reference} said:\n${container.output()}`, { cause: error });
    } finally {
      await container.stop();
      unpacked.remove();
    }
  }

  it('Redis answers, and writes to its volume', async () => {
    const port = await freePort();
    await withContainer(await redisImage(signal), { args: ['--port', String(port)], data: 'with data' }, async () => {
      assert.equal(await until('an answer of Redis', () => ask(port, 'SET a 1\r\n')), '+OK');
    });
  });

  it('Postgres makes its data and takes a connection with the password that it was given', async () => {
    const port = await freePort();
    const run = { args: ['-p', String(port)], env: { POSTGRES_PASSWORD: 'a password' }, data: 'with data' } as const;
    await withContainer(await postgresImage(signal), run, async () => {
      const version = await until(
        'an answer of Postgres',
        async () => {
          const client = new pg.Client({
            host: '127.0.0.1',
            port,
            user: POSTGRES_USER,
            password: 'a password',
            database: 'postgres',
            connectionTimeoutMillis: 2_000,
          });
          try {
            await client.connect();
            return (await client.query<{ server_version: string }>('SHOW server_version')).rows[0]?.server_version;
          } finally {
            await client.end().catch(() => {});
          }
        },
        30_000,
      );
      assert.match(version, /^18/);
    });
  });

  it('embedded-identity says who it is', async () => {
    const port = await freePort();
    const issuer = `http://127.0.0.1:${port}/realms/slipway`;
    const env = {
      NODE_ENV: 'test',
      HOST: '127.0.0.1',
      PORT: String(port),
      METRICS_PORT: '0',
      DATA_DIR: '/tmp/identity',
      ISSUER_URL: issuer,
      OIDC_CLIENT_SECRET: 'x'.repeat(40),
      REDIRECT_URI: 'http://127.0.0.1:1/oauth/keycloak/callback',
      POST_LOGOUT_REDIRECT_URI: 'http://127.0.0.1:1/login',
    };
    await withContainer(await identityImage(signal), { env, data: 'without data' }, async () => {
      const found = await until(
        'the issuer’s own description',
        async () =>
          (await (
            await fetch(`${issuer}/.well-known/openid-configuration`, { signal: AbortSignal.timeout(5_000) })
          ).json()) as { issuer: string },
        20_000,
      );
      assert.equal(found.issuer, issuer);
    });
  });
});

/** One line to a port and the first line back. */
function ask(port: number, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(line));
    socket.setTimeout(2_000, () => socket.destroy(new Error('no answer')));
    socket.once('error', reject).once('data', (data) => {
      resolve(data.toString().split('\r\n')[0] ?? '');
      socket.destroy();
    });
  });
}
