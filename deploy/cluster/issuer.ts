import type { TestCluster } from '@slipway/testing/cluster';
import { Keycloak, whyNoKeycloak } from '@slipway/testing/keycloak';
import { realmRepresentation } from '../../keycloak/realm.ts';
import { discoverIssuer } from '../../keycloak/render.ts';
import { realmParameters } from '../../keycloak/settings.ts';
import { identityImage } from './images/identity-image.ts';
import { applyManifest, type Variables } from './manifest.ts';

const USER = {
  username: 'ada',
  password: 'correct horse',
  firstName: 'Ada',
  lastName: 'Byron',
  email: 'ada@example.test',
} as const;
/** Of embedded-identity. */
const DEMO = { username: 'demo', password: 'demo' } as const;
const IDENTITY_PORT = 30_005;

/** Who signs people in, at `https://id.slipway.test/realms/slipway`. */
export interface Issuer {
  /** Why it is not a Keycloak, as one sentence; `null` when it is. */
  readonly missing: string | null;
  readonly account: { readonly username: string; readonly password: string };
  /** Where the ingress leads its name. */
  readonly target: { readonly address: string; readonly port: number };
  close(): Promise<void>;
}

export interface IssuerOptions {
  readonly nodeAddress: string;
  /** Of `CLIENT_SECRET`. */
  readonly variables: Variables;
  readonly signal: AbortSignal;
}

/**
 * The real Keycloak as a process of this machine, with the realm of docs/operate/sign-in.md; where it cannot be had,
 * embedded-identity in a pod.
 */
export async function openIssuer(cluster: TestCluster, options: IssuerOptions): Promise<Issuer> {
  const missing = await whyNoKeycloak((line) => console.log(line));
  return missing === null ? openKeycloak(options) : openEmbedded(cluster, options, missing);
}

async function openKeycloak({ nodeAddress, variables, signal }: IssuerOptions): Promise<Issuer> {
  const settings = {
    PUBLIC_URL: 'https://slipway.test',
    // This machine knows no names of the cluster.
    APP_SERVER_URL: `http://${nodeAddress}:30000`,
    OIDC_CLIENT_SECRET: variables['CLIENT_SECRET'],
    SERVICE_CLIENT_SECRET: 'of an unused client',
  };
  const realm = { realm: 'slipway', ...realmRepresentation(await realmParameters(settings, discoverIssuer)) };
  const keycloak = await Keycloak.open({ realm, publicUrl: 'https://id.slipway.test', signal });
  try {
    await keycloak.admin.createUser(USER);
    return {
      missing: null,
      account: USER,
      target: { address: '127.0.0.1', port: keycloak.port },
      close: () => keycloak.close(),
    };
  } catch (error) {
    await keycloak.close();
    throw error;
  }
}

async function openEmbedded(
  cluster: TestCluster,
  { nodeAddress, variables, signal }: IssuerOptions,
  missing: string,
): Promise<Issuer> {
  const image = await identityImage(signal);
  await cluster.importImage(image.archivePath);
  await applyManifest(cluster, 'identity.yaml', { ...variables, IDENTITY_IMAGE: image.reference });
  return {
    missing,
    account: DEMO,
    target: { address: nodeAddress, port: IDENTITY_PORT },
    close: async () => {},
  };
}
