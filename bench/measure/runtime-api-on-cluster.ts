// runtime-api as it is in its own cluster, with the token of its service account: argv PORT JSON, with databaseUrl,
// apiKey, activationKey (PKCS#8 DER, base64), host, port, folder (ca.crt and token), namespace, templates, store,
// pools.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { DirectoryStore, inCluster, KubernetesBackend } from '@slipway/sandbox/adapters/kubernetes';
import { createLogger } from '@slipway/telemetry';
import { createRuntimeApi, type RuntimeApiOptions } from '../../apps/runtime-api/dist/app.js';
import { CLUSTER_PACE } from '../../apps/runtime-api/dist/pool/pool-context.js';

const [port = '0', json = '{}'] = process.argv.slice(2);
type Given = Record<
  'databaseUrl' | 'apiKey' | 'activationKey' | 'host' | 'port' | 'folder' | 'namespace' | 'store',
  string
> & { templates: unknown[] };
const given = JSON.parse(json) as Given & Pick<RuntimeApiOptions, 'pools'>;
const logger = createLogger('runtime-api', 'warn');
const activationKey = createPrivateKey({
  key: Buffer.from(given.activationKey, 'base64'),
  format: 'der',
  type: 'pkcs8',
});
const backend = new KubernetesBackend({
  access: inCluster(given.host, given.port, given.folder),
  namespace: given.namespace,
  templates: given.templates,
  store: new DirectoryStore(given.store),
  activationKey,
  activationPublicKey: createPublicKey(activationKey).export({ format: 'der', type: 'spki' }).toString('base64'),
  nodeEnv: 'production',
  logLevel: 'warn',
  logger,
});
const runtimeApi = await createRuntimeApi({
  databaseUrl: given.databaseUrl,
  apiKey: given.apiKey,
  encryptionKey: 'an encryption key of the bench, long enough',
  activationKey,
  backend,
  pools: given.pools,
  pace: CLUSTER_PACE,
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
