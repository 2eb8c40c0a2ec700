import type { CredentialUse } from '@slipway/contracts/credentials';
import type { Header, RequestHead } from './request-head.js';

/** Headers that carry a credential, in lower case. */
const HEADERS: ReadonlySet<string> = new Set([
  'authorization', 'cookie', 'x-api-key', 'api-key', 'apikey', 'private-token', 'job-token', 'deploy-token', 'x-auth-token', 'x-access-token',
  'x-auth-key', 'x-auth-email', 'x-goog-api-key', 'x-goog-iam-authorization-token', 'x-vault-token', 'x-api-token', 'x-token', 'x-figma-token',
  'x-shopify-access-token', 'dd-api-key', 'dd-application-key', 'x-gitlab-token', 'x-github-token', 'circle-token', 'x-circleci-token',
  'x-honeycomb-team', 'x-functions-key', 'ocp-apim-subscription-key', 'x-ms-authorization-auxiliary', 'x-plex-token', 'x-session-token',
  'x-subscription-token', 'authentication', 'x-authorization', 'x-user-token', 'x-jfrog-art-api', 'x-nuget-apikey',
]); // biome-ignore format: a list reads better in lines
/** Parameters of the query that carry one, in lower case. */
const PARAMETERS: ReadonlySet<string> = new Set([
  'access_token', 'accesstoken', 'access-token', 'api_key', 'apikey', 'api-key', 'private_token', 'job_token', 'key', 'token', 'auth',
  'auth_token', 'authorization', 'oauth_token', 'oauth_signature', 'sig', 'signature', 'x-goog-signature', 'x-goog-credential',
  'client_secret', 'client_id_secret', 'secret', 'password', 'subscription-key', 'awsaccesskeyid', 'sessionid', 'jwt',
]); // biome-ignore format: a list reads better in lines
/** What belongs to a signature of AWS; every other `X-Amz-` header is no credential where requests are signed anew. */
const AWS = /^x-amz-/;
const SIGV4 = /^AWS4-HMAC-SHA256 /;

/** A header or parameter that carries a credential which is none of ours. */
export interface Foreign {
  readonly kind: 'header' | 'parameter';
  readonly name: string;
}

/**
 * What a request brings of its own.
 * @param use of the credential that is put in; `null`: none is.
 * @param ours references of this conversation that may stand in this request.
 */
export function foreignOf(
  { headers, target: { query } }: RequestHead,
  use: CredentialUse | null,
  ours: ReadonlySet<string>,
): Foreign[] {
  const aws = use?.form === 'aws-sigv4';
  const own = use?.form === 'header' ? use.header.toLowerCase() : null;
  const found: Foreign[] = [];
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    const carries = HEADERS.has(lower) || lower === own || (AWS.test(lower) && !aws);
    if (!carries || (aws && lower === 'authorization' && SIGV4.test(value)) || isOurs(value, ours)) continue;
    found.push({ kind: 'header', name });
  }
  for (const [name, value] of parametersOf(query)) {
    const lower = name.toLowerCase();
    if ((PARAMETERS.has(lower) || AWS.test(lower)) && !ours.has(value)) found.push({ kind: 'parameter', name });
  }
  return found;
}

/** The request without what is foreign. */
export function withoutForeign(head: RequestHead, foreign: readonly Foreign[]): RequestHead {
  const names = (kind: Foreign['kind']): ReadonlySet<string> =>
    new Set(foreign.flatMap((each) => (each.kind === kind ? [each.name] : [])));
  const [headers, parameters] = [names('header'), names('parameter')];
  const kept = head.target.query
    ?.split(/[&;]/)
    .filter((part) => !parameters.has(decoded(part.split('=', 1)[0] ?? '') ?? ''))
    .join('&');
  return {
    ...head,
    headers: head.headers.filter(([name]: Header) => !headers.has(name)),
    target: { ...head.target, query: kept ?? null },
  };
}

/** Whether a value is a reference of ours and nothing beside it: alone, after a scheme, or in Basic. */
function isOurs(value: string, ours: ReadonlySet<string>): boolean {
  const [, scheme, rest = ''] = /^(?:([A-Za-z][A-Za-z0-9-]*) +)?(\S+)$/.exec(value.trim()) ?? [];
  if (ours.has(rest)) return true;
  if (scheme?.toLowerCase() !== 'basic') return false;
  const plain = Buffer.from(rest, 'base64').toString();
  const at = plain.indexOf(':');
  // Where the user is the credential, nothing of worth may stand in the password.
  return (
    ours.has(plain.slice(at + 1)) || (ours.has(plain.slice(0, at)) && /^(x|x-oauth-basic)?$/.test(plain.slice(at + 1)))
  );
}

/** Names and values of a query, decoded; what cannot be decoded stays as it is. */
export function parametersOf(query: string | null): Array<readonly [string, string]> {
  return (query ?? '').split(/[&;]/).flatMap((part) => {
    if (part === '') return [];
    const at = part.indexOf('=');
    const [name, value] = at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
    return [[decoded(name) ?? name, decoded(value) ?? value] as const];
  });
}

export function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}
