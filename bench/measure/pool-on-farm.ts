import { generateKeyPairSync } from 'node:crypto';
import { FarmBackend } from '@slipway/sandbox/testing';
import { createTestDatabase } from '@slipway/testing';
import { IN_CONTAINER, type PoolPlace } from '../pool-scale.ts';
import { startLimitedScript, startScript } from './service-process.ts';

const API_KEY = 'a service key of the bench, long enough';

/** Sandboxes of one process at one address, in which nothing runs. */
export async function openFarmPlace(): Promise<PoolPlace> {
  const database = await createTestDatabase();
  const keys = generateKeyPairSync('ed25519');
  const farm = await startScript(
    './sandbox-farm.ts',
    keys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    'one-address',
  );
  const backend = new FarmBackend(farm.url);
  return {
    name: 'farm',
    note: 'one process plays all sandboxes and the API server; a list of them is one JSON answer. For the figures of a real API server: POOL_SCALE_ON=cluster.',
    databaseUrl: database.ownerUrl,
    apiKey: API_KEY,
    start: (target) =>
      startLimitedScript(
        IN_CONTAINER,
        './runtime-api-on-farm.ts',
        JSON.stringify({
          databaseUrl: database.urls.runtime,
          apiKey: API_KEY,
          activationKey: keys.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
          farmUrl: farm.url,
          pools: [
            {
              poolId: 'default',
              image: 'slipway-sandbox',
              imageReference: null,
              runtimeClass: null,
              size: 1,
              bounds: { min: target, max: target },
              maxAgeSeconds: 86_400,
            },
          ],
          pace: {
            startsAtOnce: 300,
            startTimeoutMs: 600_000,
            dormantTimeoutMs: 30_000,
            refillsBesideClaims: true,
            surplusAfterMs: 60_000,
          },
        }),
      ),
    list: async () => {
      const began = performance.now();
      await backend.list(AbortSignal.timeout(60_000));
      return performance.now() - began;
    },
    close: async () => {
      await farm.stop();
      await database.close();
    },
  };
}
