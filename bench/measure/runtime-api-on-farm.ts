// runtime-api as it is, but over a farm of sandboxes: argv PORT JSON, with databaseUrl, apiKey, activationKey (PKCS#8
// DER, base64), farmUrl, pools, pace (that of this machine when not given).
import { createPrivateKey } from 'node:crypto';
import { FarmBackend } from '@slipway/sandbox/testing';
import { createLogger, useTracing } from '@slipway/telemetry';
import { preloadedTracing } from '@slipway/telemetry/preloaded';
import { createRuntimeApi, type RuntimeApiOptions } from '../../apps/runtime-api/dist/app.js';

const [port = '0', json = '{}'] = process.argv.slice(2);
const given = JSON.parse(json) as Record<'databaseUrl' | 'apiKey' | 'activationKey' | 'farmUrl', string> &
  Pick<RuntimeApiOptions, 'pools' | 'pace'>;
const logger = createLogger('runtime-api', 'warn');
useTracing(preloadedTracing(logger));
const runtimeApi = await createRuntimeApi({
  databaseUrl: given.databaseUrl,
  apiKey: given.apiKey,
  encryptionKey: 'an encryption key of the bench, long enough',
  activationKey: createPrivateKey({ key: Buffer.from(given.activationKey, 'base64'), format: 'der', type: 'pkcs8' }),
  backend: new FarmBackend(given.farmUrl),
  pools: given.pools,
  ...(given.pace === undefined ? {} : { pace: given.pace }),
  orgSandboxLimit: 100_000,
  replicaId: 'bench',
  logger,
});
// What waits for a service to listen asks for `/`.
runtimeApi.app
  .getHttpAdapter()
  .getInstance()
  .get('/', async () => 'ok');
await runtimeApi.app.listen(Number(port), '127.0.0.1');
runtimeApi.pool.start();
