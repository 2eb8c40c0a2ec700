import { setTimeout as sleep } from 'node:timers/promises';
import { type Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { baseUrlOf } from '../base-url.js';
import { ProviderRefusal, type RefusalKind } from '../calls/provider-refusal.js';
import type { Connect, OAuthApp } from '../linking/account-linking.js';
import type { Provider } from '../provider.js';
import { type ConnectionOAuth, type Grant, isFinal, renewTokens } from './connection-oauth.js';
import type { Credential, CredentialConnection, CredentialNeed, CredentialSource, OpenedSecret } from './credential.js';
import { findCredentialSecret } from './credentials.queries.js';
import { findOAuthApp } from './oauth-app.js';
import { isAlive, isFresh, OAuthTokens, renewAtOf, tokensOf } from './oauth-tokens.js';
import {
  type Claim,
  claimRenewal,
  insertRevocation,
  postponeRenewal,
  refuseRenewal,
  replaceTokens,
} from './renewal.queries.js';

/**
 * Longer than any call to a provider and the commit after it: whoever died with a claim leaves the renewal to another.
 * Milliseconds.
 */
const CLAIM_MS = 60_000;
/** Longest that a caller waits for another's renewal. Milliseconds; the call itself ends within 20 s. */
const WAIT_MS = 25_000;
const POLL_MS = 200;
/**
 * Tokens that are younger are not renewed since one call was refused: a second pair would be refused as well.
 * Milliseconds.
 */
const YOUNG_MS = 60_000;
/** Until the next attempt after a failure, doubling. Milliseconds. */
const RETRY_MS = 30_000;
const MAX_RETRY_MS = 30 * 60_000;

export const RENEWAL_REFUSED = 'The provider refuses to renew the authorization. Connect with OAuth again.';

export interface OAuthSourceOptions {
  readonly pool: SqlPool;
  readonly envelope: Envelope;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly connect: Connect;
  readonly clock: Clock;
  readonly ids: Ids;
  /** A connection needs attention from now on, or a pair could not be renewed. */
  readonly say: (fields: Readonly<Record<string, unknown>>, message: string) => void;
}

/** A pair of a connection that is to be exchanged for a new one. */
interface Renewal {
  readonly connection: CredentialConnection;
  /** Of the stored pair. */
  readonly id: string;
  readonly tokens: OAuthTokens;
  /** The provider refused a call with it: it must not be used any more. */
  readonly refused: boolean;
}

interface RenewedPair {
  readonly connection: CredentialConnection;
  /** Of the stored pair that the new one replaces. */
  readonly oldId: string;
  readonly tokens: OAuthTokens;
  /** `null`: the provider did not say, and those of the old pair stay. */
  readonly scopes: readonly string[] | null;
}

/**
 * Credentials of connections that were authorized by OAuth. One caller of all processes renews a pair: it claims the
 * row, asks the provider once, and stores the answer before anybody uses it. A refusal ends the pair for good; any
 * other failure leaves it for later. See `docs/decisions/0030-credentials-of-connections.md`.
 */
export class OAuthSource implements CredentialSource {
  readonly kind = 'oauth-tokens';
  /** Renewals of this process, by the id of the pair: its callers share one. */
  private readonly renewing = new Map<string, Promise<Credential>>();

  constructor(private readonly options: OAuthSourceOptions) {}

  /**
   * @throws ProviderRefusal `credential` where the provider refuses to renew; `unavailable` or `limited` where it
   * cannot now.
   */
  async credential(
    orgId: string,
    connection: CredentialConnection,
    secret: OpenedSecret,
    need: CredentialNeed,
  ): Promise<Credential> {
    const now = this.options.clock.now();
    const tokens = OAuthTokens.parse(JSON.parse(secret.value));
    const refused = need.refused === secret.id && now.getTime() - Date.parse(tokens.issuedAt) >= YOUNG_MS;
    if ((isFresh(tokens, now) && !refused && need.renew !== true) || tokens.refreshToken === null)
      return this.toCredential(connection, secret.id, tokens);
    return this.renew(orgId, { connection, id: secret.id, tokens, refused });
  }

  private renew(orgId: string, renewal: Renewal): Promise<Credential> {
    const { id } = renewal;
    const known = this.renewing.get(id);
    if (known !== undefined) return known;
    const made = this.renewAlone(orgId, renewal).finally(() => this.renewing.delete(id));
    this.renewing.set(id, made);
    return made;
  }

  private async renewAlone(orgId: string, renewal: Renewal): Promise<Credential> {
    const { pool, clock } = this.options;
    const { connection, id, tokens, refused } = renewal;
    const asItIs = (): Credential | null =>
      refused || !isAlive(tokens, clock.now()) ? null : this.toCredential(connection, id, tokens);
    for (let waited = 0; waited <= WAIT_MS; waited += POLL_MS) {
      const claim = await inOrg(pool, orgId, (client) =>
        claimRenewal(client, orgId, { id, now: clock.now(), claimMs: CLAIM_MS }),
      );
      switch (claim.kind) {
        case 'claimed':
          return this.ask(orgId, renewal, claim, asItIs);
        case 'replaced':
          return this.present(orgId, connection);
        case 'refused':
          throw refusal('credential', RENEWAL_REFUSED, null);
        case 'later': {
          const present = asItIs();
          if (present !== null) return present;
          throw refusal('unavailable', claim.problem ?? 'The authorization cannot be renewed now.', claim.at);
        }
        case 'busy': {
          const present = asItIs();
          if (present !== null) return present;
          await sleep(POLL_MS);
        }
      }
    }
    throw refusal('unavailable', 'Another process renews the authorization.', null);
  }

  /** One call, by whoever has the claim. */
  private async ask(
    orgId: string,
    { connection, id, tokens }: Renewal,
    { failures }: Extract<Claim, { kind: 'claimed' }>,
    asItIs: () => Credential | null,
  ): Promise<Credential> {
    const { pool, clock, connect, say } = this.options;
    const place = { connection_id: connection.id, provider: connection.provider };
    const oauth = this.oauthOf(connection);
    let grant: Grant;
    let app: OAuthApp;
    try {
      app = await this.appOf(orgId, connection.id, tokens);
      grant = await renewTokens(
        oauth,
        { baseUrl: baseUrlOf(connection), app, refreshToken: tokens.refreshToken as string },
        connect,
      );
    } catch (error) {
      if (isFinal(error)) {
        // Another may have stored a pair that this one's call came too late for: then that is the connection's.
        const newly = await inOrg(pool, orgId, (client) =>
          refuseRenewal(client, orgId, { connectionId: connection.id, id, now: clock.now(), why: RENEWAL_REFUSED }),
        );
        if (newly)
          say({ ...place, ...failureOf(error) }, 'renewal of an authorization refused, connection needs attention');
        const now = await this.presentOther(orgId, connection, id);
        if (now !== null) return now;
        throw refusal('credential', RENEWAL_REFUSED, null);
      }
      const problem = `${connection.host} did not renew the authorization${error instanceof ProviderRefusal && error.status !== null ? ` (${error.status})` : ''}.`;
      const wait = Math.min(RETRY_MS * 2 ** Math.min(failures, 10), MAX_RETRY_MS);
      const asked = error instanceof ProviderRefusal ? (error.retryAt?.getTime() ?? 0) : 0;
      const at = new Date(
        Math.max(clock.now().getTime() + wait, Math.min(asked, clock.now().getTime() + MAX_RETRY_MS)),
      );
      await inOrg(pool, orgId, (client) => postponeRenewal(client, orgId, { id, at, problem }));
      say({ ...place, ...failureOf(error) }, 'failed to renew an authorization, will retry');
      const present = asItIs();
      if (present !== null) return present;
      throw refusal(
        error instanceof ProviderRefusal && error.kind === 'limited' ? 'limited' : 'unavailable',
        problem,
        at,
      );
    }
    return this.store(orgId, {
      connection,
      oldId: id,
      tokens: tokensOf(grant, app, clock.now()),
      scopes: grant.scopes,
    });
  }

  /**
   * Before anybody uses the new pair. Where the old one is gone, whose place it was to take, it belongs nowhere and is
   * given back.
   */
  private async store(orgId: string, { connection, oldId, tokens, scopes }: RenewedPair): Promise<Credential> {
    const { pool, envelope, ids } = this.options;
    const place = { id: ids.uuid(), connectionId: connection.id, kind: this.kind };
    const { bytes, keyVersion } = await envelope.seal(orgId, JSON.stringify(tokens), integrationSecretContext(place));
    const made = {
      id: place.id,
      bytes,
      keyVersion,
      expiresAt: tokens.expiresAt === null ? null : new Date(tokens.expiresAt),
      renewAt: renewAtOf(tokens),
    };
    const stored = await inOrg(pool, orgId, async (client) => {
      const known = await client.query<{ scopes: string[] | null }>(
        'SELECT scopes FROM app.integration_secret WHERE org_id = $1 AND id = $2',
        [orgId, oldId],
      );
      const next = { ...made, scopes: scopes ?? known.rows[0]?.scopes ?? null };
      if (await replaceTokens(client, orgId, connection.id, { oldId, made: next, attention: RENEWAL_REFUSED }))
        return true;
      await insertRevocation(client, orgId, connection, made);
      return false;
    });
    return stored ? this.toCredential(connection, made.id, tokens) : this.present(orgId, connection);
  }

  /** What the connection has now, as it is. */
  private async present(orgId: string, connection: CredentialConnection): Promise<Credential> {
    const found = await this.presentOther(orgId, connection, null);
    if (found === null) throw refusal('credential', 'The connection has no authorization any more.', null);
    return found;
  }

  private async presentOther(
    orgId: string,
    connection: CredentialConnection,
    than: string | null,
  ): Promise<Credential | null> {
    const { pool, envelope } = this.options;
    const stored = await inOrg(pool, orgId, (client) => findCredentialSecret(client, orgId, connection.id));
    if (stored === null || stored.id === than || stored.kind !== this.kind) return null;
    const value = await envelope.open(
      orgId,
      stored,
      integrationSecretContext({ id: stored.id, connectionId: connection.id, kind: stored.kind }),
    );
    return this.toCredential(connection, stored.id, OAuthTokens.parse(JSON.parse(value)));
  }

  /** The client that the tokens are of, with the secret that is entered for it now. */
  private async appOf(orgId: string, connectionId: string, { clientId, clientSecret }: OAuthTokens): Promise<OAuthApp> {
    const entered = await findOAuthApp(this.options.pool, this.options.envelope, orgId, connectionId);
    return entered?.clientId === clientId ? entered : { clientId, clientSecret };
  }

  private oauthOf({ provider }: CredentialConnection): ConnectionOAuth {
    const oauth = this.options.providers.get(provider)?.oauth;
    if (oauth === undefined) throw new Error(`${provider} has no OAuth for connections`);
    return oauth;
  }

  private toCredential(
    connection: CredentialConnection,
    id: string,
    { accessToken, expiresAt }: OAuthTokens,
  ): Credential {
    const baseUrl = this.oauthOf(connection).apiBase?.(connection.account) ?? null;
    return { token: accessToken, id, expiresAt: expiresAt === null ? null : new Date(expiresAt), baseUrl };
  }
}

function refusal(kind: RefusalKind, message: string, retryAt: Date | null): ProviderRefusal {
  return new ProviderRefusal(message, { kind, status: null, retryAt, outcomeUnknown: false });
}

/** For logs: without what the provider wrote, in which there may be what it was sent. */
const failureOf = (error: unknown): object =>
  error instanceof ProviderRefusal
    ? { kind: error.kind, status: error.status }
    : { kind: error instanceof Error ? error.name : 'unknown', status: null };
