import { buildNodeImage } from '../../images/app-image.ts';
import type { TestImage } from './programs-image.ts';

/**
 * `slipway-test/identity`: embedded-identity, so that a browser signs in without Keycloak. For the test cluster only:
 * it refuses NODE_ENV=production, which the image has, so a pod sets another, and DATA_DIR to a folder that it may
 * write.
 */
export async function identityImage(signal: AbortSignal): Promise<TestImage> {
  const image = await buildNodeImage(
    'slipway-test',
    'identity',
    {
      description: 'An OIDC issuer for tests',
      port: 3005,
      entry: 'main.js',
      programs: { 'main.js': 'apps/embedded-identity/dist/main.js' },
    },
    { signal },
  );
  return { reference: image.reference, digest: image.digest, archivePath: image.archivePath };
}
