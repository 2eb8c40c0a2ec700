// `npm run -s realm > realm.json` makes the realm of an installation from the environment (keycloak/settings.ts names
// what it reads). The file holds secrets. Ends with 1 and one line for each setting that is wrong.
import { z } from 'zod';
import type { OidcEndpoints } from './brokers.ts';
import { realmRepresentation } from './realm.ts';
import { realmParameters } from './settings.ts';

/** Longest wait for a company's issuer. Milliseconds. */
const TIMEOUT_MS = 10_000;

const Endpoints = z.object({
  issuer: z.url(),
  authorization_endpoint: z.url(),
  token_endpoint: z.url(),
  jwks_uri: z.url(),
  userinfo_endpoint: z.url().optional(),
  end_session_endpoint: z.url().optional(),
});

/** @throws Error when it does not answer, or is another issuer than it was asked for. */
export async function discoverIssuer(issuer: string): Promise<OidcEndpoints> {
  const response = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'error',
  });
  if (!response.ok) throw new Error(`${issuer} answered ${response.status} when asked for its discovery document`);
  const endpoints = Endpoints.parse(await response.json());
  if (endpoints.issuer.replace(/\/$/, '') !== issuer.replace(/\/$/, ''))
    throw new Error(`${issuer} calls itself ${endpoints.issuer}`);
  return endpoints;
}

if (import.meta.main) {
  try {
    console.log(JSON.stringify(realmRepresentation(await realmParameters(process.env, discoverIssuer)), null, 2));
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}
