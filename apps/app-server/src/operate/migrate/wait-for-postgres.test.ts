import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '@slipway/testing';
import { loadMigrateConfig } from './config.js';

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url));
/** One try may be under way when the time is over, and a pause before it. Seconds. */
const LAST_TRY_SECONDS = 6;

const variables = (owner: string): Record<string, string> => ({
  DATABASE_OWNER_URL: `postgresql://owner:secret-of-the-owner@${owner}/slipway`,
  DATABASE_APP_URL: `postgresql://slipway_app:x@${owner}/slipway`,
  DATABASE_RUNTIME_URL: `postgresql://slipway_runtime:x@${owner}/slipway`,
  DATABASE_GATEWAY_URL: `postgresql://slipway_gateway:x@${owner}/slipway`,
  DATABASE_SANDBOX_URL: `postgresql://slipway_sandbox:x@${owner}/slipway`,
});

describe('migrations without Postgres', () => {
  // A port that takes a connection and says nothing, as a Service without an endpoint behind a proxy does.
  const mute = createServer((socket) => socket.on('error', () => {}));
  beforeAll(async () => {
    await once(mute.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(() => void mute.close());

  it('give up within a minute when nothing else is said', () => {
    expect(loadMigrateConfig(variables('127.0.0.1:1')).MIGRATE_WAIT_SECONDS + LAST_TRY_SECONDS).toBeLessThanOrEqual(60);
  });

  for (const kind of ['closed', 'mute'] as const)
    it(`fail with one sentence that names the place and no secret, at a port that is ${kind}`, async () => {
      const address = mute.address();
      const port =
        kind === 'closed' ? await freePort() : typeof address === 'object' && address !== null ? address.port : 0;
      const place = `127.0.0.1:${port}`;
      const env = { PATH: process.env['PATH'], ...variables(place), MIGRATE_WAIT_SECONDS: '1' };
      const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'pipe'] });
      const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
      const last = (out + err).trim().split('\n').at(-1) ?? '';
      expect(code).toBe(1);
      expect(JSON.parse(last).message).toMatch(
        new RegExp(
          `^database not migrated: Postgres at ${place} \\(DATABASE_OWNER_URL\\) takes no connection: .+\\. Check host, port, user and password\\.$`,
        ),
      );
      expect(out + err).not.toContain('secret-of-the-owner');
    });
});
