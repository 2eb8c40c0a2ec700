import { WORKLOAD_TOKEN_SECONDS, type WorkloadClaims } from '@slipway/contracts/credentials';
import { SignJWT } from 'jose';
import type { SigningKey } from './identity-keys.js';

/** For what an agent works. */
export interface Workload {
  readonly org: string;
  readonly conversation: string;
  /** The sandbox. */
  readonly claim: string;
  /** Whose conversation it is. */
  readonly user: string;
  readonly environment: string | null;
  /** URL, or what else a conversation has in its place. */
  readonly repository: string | null;
}

/**
 * Who the bearer of a token is. Each part is in percent encoding, so that `:` and `/` are always ours. A repository
 * that is not cloned over https has its scheme before the host: it is another one.
 */
export function workloadSubject({
  org,
  environment,
  repository,
}: Pick<Workload, 'org' | 'environment' | 'repository'>): string {
  return `org:${encoded(org)}:env:${encoded(environment ?? '')}:repo:${repositoryPart(repository)}`;
}

/** @param audience who is to trust it. */
export async function workloadToken(
  { id, key }: SigningKey,
  workload: Workload,
  {
    issuer,
    audience,
    now,
    tokenId,
  }: { readonly issuer: string; readonly audience: string; readonly now: Date; readonly tokenId: string },
): Promise<string> {
  const issuedAt = Math.floor(now.getTime() / 1000);
  const claims: WorkloadClaims = {
    iss: issuer,
    sub: workloadSubject(workload),
    aud: audience,
    conversation_id: workload.conversation,
    claim_id: workload.claim,
    user: workload.user,
    iat: issuedAt,
    nbf: issuedAt,
    exp: issuedAt + WORKLOAD_TOKEN_SECONDS,
    jti: tokenId,
  };
  return new SignJWT({ ...claims }).setProtectedHeader({ alg: 'ES256', kid: id, typ: 'JWT' }).sign(key);
}

function repositoryPart(repository: string | null): string {
  if (repository === null) return '';
  if (!/^https?:/.test(repository) || !URL.canParse(repository)) return encoded(repository);
  const { protocol, host, pathname } = new URL(repository);
  const path = pathname
    .replace(/^\//, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/i, '');
  return [protocol === 'https:' ? host : `${protocol}//${host}`, ...path.split('/')].map(encoded).join('/');
}

/** All but letters, digits, `-`, `.`, `_` and `~`. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
