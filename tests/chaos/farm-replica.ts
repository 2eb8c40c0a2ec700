// runtime-api as it is, over a farm of sandboxes in another process: argv PORT JSON (`FarmReplicaOptions`).
import { createPrivateKey } from 'node:crypto';
import { FarmBackend } from '@slipway/sandbox/testing';
import { createLogger } from '@slipway/telemetry';
import { createRuntimeApi, type RuntimeApiOptions } from '../../apps/runtime-api/dist/app.js';

export interface FarmReplicaOptions
  extends Pick<RuntimeApiOptions, 'databaseUrl' | 'apiKey' | 'encryptionKey' | 'pools' | 'pace' | 'leaseSeconds'> {
  /** PKCS#8 DER, base64. */
  readonly activationKey: string;
  readonly farmUrl: string;
}

const [port = '0', json = '{}'] = process.argv.slice(2);
const { farmUrl, activationKey, ...given } = JSON.parse(json) as FarmReplicaOptions;
const runtimeApi = await createRuntimeApi({
  ...given,
  activationKey: createPrivateKey({ key: Buffer.from(activationKey, 'base64'), format: 'der', type: 'pkcs8' }),
  backend: new FarmBackend(farmUrl),
  orgSandboxLimit: 1_000_000,
  replicaId: `replica-${process.pid}`,
  logger: createLogger('runtime-api', 'fatal'),
});
await runtimeApi.app.listen(Number(port), '127.0.0.1');
runtimeApi.pool.start();
