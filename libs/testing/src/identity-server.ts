import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@slipway/db/embedded';
import { until } from './until.js';

export interface IdentityServer {
  readonly issuerUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** `SIGKILL`, and the same again with the same data on the same port. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops it and removes its data. */
  close(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('../../../apps/embedded-identity/bundle/main.js', import.meta.url));

/** Longest start on a machine that does much else. Milliseconds. */
const START_MS = 60_000;

/**
 * The real embedded-identity as a process of its own, for a test. @param appUrl `PUBLIC_URL` of the app-server that
 * will use it.
 */
export async function startIdentityServer(
  appUrl: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<IdentityServer> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-identity-'));
  const port = await freePort();
  // Another host name than the app's, as in the embedded default: their cookies stay apart, and coming back is a
  // cross-site redirect.
  const issuerUrl = `http://localhost:${port}/realms/slipway`;
  const client = { clientId: 'slipway-web', clientSecret: 'test-client-secret-test-client-secret' };
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    let output = '';
    const process_ = spawn(process.execPath, [MAIN], {
      env: {
        ...process.env,
        PORT: String(port),
        METRICS_PORT: '0',
        ISSUER_URL: issuerUrl,
        DATA_DIR: directory,
        OIDC_CLIENT_ID: client.clientId,
        OIDC_CLIENT_SECRET: client.clientSecret,
        REDIRECT_URI: new URL('/oauth/keycloak/callback', appUrl).href,
        POST_LOGOUT_REDIRECT_URI: new URL('/', appUrl).href,
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = process_;
    process.once('exit', () => process_.kill('SIGKILL'));
    for (const stream of [process_.stdout, process_.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await until(
      'embedded-identity answers',
      async () => {
        if (process_.exitCode !== null) throw new Error(`it ended: ${output.slice(-2_000)}`);
        return (await fetch(new URL('/alive', issuerUrl), { signal: AbortSignal.timeout(2_000) })).ok;
      },
      START_MS,
    );
  };
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  await start();
  return {
    issuerUrl,
    ...client,
    start,
    kill,
    close: async () => {
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
