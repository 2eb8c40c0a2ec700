import { parseOrThrow } from '@slipway/errors';
import { z } from 'zod';
import type { Conversations } from '../conversations/conversations.js';
import { type Call, readJson } from '../http/router.js';
import type { SecretMask } from '../secrets/secret-mask.js';
import type { HeldSecrets } from './held-secrets.js';
import { heldSecretAt, LookupSecret, lookUp } from './lookup-secret.js';
import { credentialsIn } from './mcp-secrets.js';

/** A value, or one of OpenHands' wrappers around it, or where to look it up. */
const Secrets = z.looseObject({
  secrets: z.record(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not the name of a variable'),
    z.union([
      z.string(),
      LookupSecret,
      z.looseObject({ kind: z.literal('StaticSecret').optional(), value: z.string() }),
    ]),
  ),
});

const isLookup = (secret: object): secret is LookupSecret => (secret as { kind?: unknown }).kind === 'LookupSecret';

/** The values of the secrets that a caller gives: as they are, held here already, or looked up. */
export async function secretsOf(
  { request, signal }: Pick<Call, 'request' | 'signal'>,
  {
    conversations,
    held,
    mask,
  }: { readonly conversations: Conversations; readonly held: HeldSecrets; readonly mask: SecretMask },
): Promise<Record<string, string>> {
  const { secrets } = parseOrThrow(Secrets, await readJson(request));
  const hosts = [request.headers.host, String(request.headers['x-forwarded-host'] ?? '')];
  const ids = new Set((await conversations.list()).map(({ id }) => id));
  const found = Object.entries(secrets).map(async ([name, secret]) => {
    if (typeof secret === 'string') return [name, secret] as const;
    if (!isLookup(secret)) return [name, secret.value] as const;
    const here = heldSecretAt(secret.url, hosts, (id) => ids.has(id.toLowerCase()));
    const value = here === null ? undefined : held.value(here);
    if (value !== undefined) return [name, value] as const;
    // What is no credential, such as a media type, must stay readable everywhere else.
    mask.add(credentialsIn({ [name]: { enabled: true, headers: secret.headers ?? {} } }));
    return [name, await lookUp(name, secret, signal)] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}
