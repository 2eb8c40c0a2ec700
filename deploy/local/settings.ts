import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Each service's port, counted from the one that people open. */
export const PORT_OFFSETS = {
  'app-server': 0,
  worker: 1,
  'runtime-api': 2,
  'llm-gateway': 3,
  web: 4,
  'embedded-identity': 5,
  'sandbox-gateway': 6,
  postgres: 7,
} as const;
/** The metrics of a service are so far from its port. */
export const METRICS_OFFSET = 8;
export type LocalService = keyof typeof PORT_OFFSETS;

export interface Secrets {
  readonly session: string;
  readonly encryption: string;
  readonly ingest: string;
  readonly sandboxAccess: string;
  readonly oidcClient: string;
  readonly runtimeApiKey: string;
  readonly gatewayMasterKey: string;
  readonly database: Readonly<Record<'app' | 'runtime' | 'gateway' | 'sandbox', string>>;
  /** Ed25519, PKCS#8 DER, base64. */
  readonly activationPrivateKey: string;
}

/** The secrets of one local installation, made at its first start and readable by its owner only. */
export function loadSecrets(dataDirectory: string): Secrets {
  mkdirSync(dataDirectory, { recursive: true });
  const file = path.join(dataDirectory, 'secrets.json');
  const secret = (): string => randomBytes(32).toString('base64url');
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<Secrets>) : null;
  // An installation that is older than one of its secrets gets that one now, and keeps the others.
  if (known?.sandboxAccess !== undefined && known.database?.sandbox !== undefined) return known as Secrets;
  const secrets: Secrets = {
    session: secret(),
    encryption: secret(),
    ingest: secret(),
    sandboxAccess: secret(),
    oidcClient: secret(),
    runtimeApiKey: secret(),
    gatewayMasterKey: secret(),
    activationPrivateKey: generateKeyPairSync('ed25519')
      .privateKey.export({ type: 'pkcs8', format: 'der' })
      .toString('base64'),
    ...known,
    database: { app: secret(), runtime: secret(), gateway: secret(), sandbox: secret(), ...known?.database },
  };
  writeFileSync(file, JSON.stringify(secrets, null, 2), { mode: 0o600 });
  return secrets;
}

/** @throws Error whose sentence names the port and the way out. */
export async function requireFreePort(
  port: number,
  name: string,
  wayOut = 'choose another range: SLIPWAY_PORT=4000 npm start',
): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`port ${port} (${name}) is already taken. Stop what uses it, or ${wayOut}.`)
          : new Error(`port ${port} (${name}) cannot be used: ${error.message}`),
      ),
    );
    server.listen(port, '127.0.0.1', resolve);
  });
  await new Promise((resolve) => server.close(resolve));
}
