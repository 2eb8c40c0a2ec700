import { type Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import { z } from 'zod';
import type { OAuthApp } from '../linking/account-linking.js';

const KIND = 'oauth-client';
const Stored = z.object({ clientId: z.string(), clientSecret: z.string() });

/**
 * The OAuth client of a connection that an admin has entered; `null`: none. @throws SlipwayError `secret.unreadable`.
 */
export async function findOAuthApp(
  pool: SqlPool,
  envelope: Envelope,
  orgId: string,
  connectionId: string,
): Promise<OAuthApp | null> {
  const secret = await inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<{ id: string; bytes: Buffer; keyVersion: number }>(
      `SELECT id, sealed AS bytes, key_version AS "keyVersion" FROM app.integration_secret WHERE org_id = $1 AND connection_id = $2 AND kind = $3 ORDER BY created_at DESC LIMIT 1`,
      [orgId, connectionId, KIND],
    );
    return rows[0] ?? null;
  });
  return secret === null ? null : openOAuthApp(envelope, orgId, connectionId, secret);
}

/** @throws SlipwayError `secret.unreadable`. */
export async function openOAuthApp(
  envelope: Envelope,
  orgId: string,
  connectionId: string,
  { id, bytes, keyVersion }: { readonly id: string; readonly bytes: Uint8Array; readonly keyVersion: number },
): Promise<OAuthApp> {
  try {
    const context = integrationSecretContext({ id, connectionId, kind: KIND });
    return Stored.parse(JSON.parse(await envelope.open(orgId, { bytes, keyVersion }, context)));
  } catch (error) {
    throw new SlipwayError('secret.unreadable', 'The OAuth client of the connection cannot be opened.', {
      cause: error,
    });
  }
}
