import { randomBytes, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { PrincipalService, readCookie, type SignedIn } from '@slipway/auth';
import { Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import { LINK_MINUTES, type LinkBegun } from '@slipway/contracts/identity';
import {
  type IntegrationConnection,
  OLD_SECRET_HOURS,
  OwnIdentity,
  type PendingAuthorization,
} from '@slipway/contracts/integrations';
import { type Principal } from '@slipway/contracts/organizations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { baseUrlOf, type OAuthApp, type Provider } from '@slipway/integrations';
import {
  type ConnectionOAuth,
  consentUrl,
  findOAuthApp,
  insertTokens,
  OAuthTokens,
  redeemCode,
  renewAtOf,
  revokeTokens,
  tokensOf,
} from '@slipway/integrations/credentials';
import type { Logger } from '@slipway/telemetry';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { CLOCK, CONFIG, IDS, LOGGER, SQL_POOL } from '../../platform/tokens.js';
import {
  type ConnectionRow,
  deleteSecrets,
  findConnection,
  findSecret,
  insertSecret,
  lockConnection,
  outdateSecrets,
} from '../connections.queries.js';
import { ConnectionsService } from '../connections.service.js';
import { KNOWN_PROVIDERS } from '../known-providers.js';
import { callbackUrl } from '../linking/callback-url.js';
import { challengeOf, hashOf, isNonce, makeProof, nonceCookie, verifierOf } from '../linking/link-proof.js';
import type { ComeBack } from '../linking/linked-accounts.service.js';
import { ProviderCalls } from '../provider-calls.js';
import {
  deleteRequest,
  type Found,
  findPending,
  insertRequest,
  installAs,
  noteFound,
  outdatedRequests,
  type TakenRequest,
  takeRequest,
} from './authorizations.queries.js';
import { missingOf, oauthOf } from './oauth-of.js';

const LINK_MS = LINK_MINUTES * 60_000;
/** Attempts of one user in one organization that are open at once, beside the one that begins. */
const MAX_OPEN = 4;
/** Tokens, an account and a list of sites are short. Bytes. */
const MAX_ANSWER_BYTES = 256 * 1024;
/** Of tokens that wait for confirmation: no call is made with them. */
const PENDING = 'oauth-pending';

/** What obtaining a credential for one connection needs. */
interface Authorizing {
  readonly connection: ConnectionRow;
  readonly oauth: ConnectionOAuth;
  readonly app: OAuthApp;
  readonly baseUrl: string;
}

interface TakenComeBack {
  readonly request: TakenRequest;
  readonly back: ComeBack;
  readonly cookieHeader: string | undefined;
}

/**
 * Connects an organization by OAuth. An authorization is begun, comes back and is confirmed in one browser session: its
 * state is random, hashed, taken once, and of ten minutes; the browser's nonce must come back with it. Its tokens wait
 * sealed, and no call is made with them before an admin has confirmed who they act as.
 */
@Injectable()
export class AuthorizationsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(KNOWN_PROVIDERS) private readonly providers: ReadonlyMap<string, Provider>,
    private readonly principals: PrincipalService,
    private readonly envelope: Envelope,
    private readonly connections: ConnectionsService,
    private readonly calls: ProviderCalls,
  ) {}

  /**
   * @throws SlipwayError `resource.not-found`, `integration.authorization-unsupported`, `integration.no-oauth-client`.
   */
  async begin(
    { orgId }: Principal,
    user: SignedIn,
    connectionId: string,
  ): Promise<{ begun: LinkBegun; cookie: string }> {
    const { oauth, app, baseUrl } = await this.authorizing(orgId, connectionId);
    const now = this.clock.now();
    const proof = makeProof(randomBytes);
    const expiresAt = new Date(now.getTime() + LINK_MS);
    const { userId, sessionId } = user;
    const made = {
      id: randomUUID(),
      userId,
      sessionId,
      connectionId,
      stateHash: hashOf(proof.state),
      nonceHash: hashOf(proof.nonce),
      expiresAt,
    };
    await inOrg(this.pool, orgId, async (client) => {
      for (const old of await outdatedRequests(client, orgId, userId, { keep: MAX_OPEN, now }))
        await this.giveUp(client, orgId, old.connectionId, old.id);
      await insertRequest(client, orgId, made);
    });
    const redirectUri = callbackUrl(this.config.PUBLIC_URL, connectionId);
    return {
      begun: {
        authorizeUrl: consentUrl(oauth, {
          baseUrl,
          clientId: app.clientId,
          redirectUri,
          state: proof.state,
          challenge: challengeOf(proof),
        }),
        expiresAt: expiresAt.toISOString(),
      },
      cookie: nonceCookie(proof.state, this.config.PUBLIC_URL).set(proof.nonce, LINK_MS / 1000),
    };
  }

  /** The authorization that was begun with a state, which is used up by this. `null`: none was. */
  async taken(state: unknown): Promise<TakenRequest | null> {
    if (typeof state !== 'string' || state === '' || state.length > 200) return null;
    return takeRequest(this.pool, hashOf(state), this.clock.now());
  }

  /**
   * Takes the tokens and who they act as; they wait.
   * @param connectionId of the address that the browser came back to.
   * @returns the cookie's end.
   * @throws SlipwayError `integration.authorization-refused` for what was taken before or is over, or is of another
   * session, browser or connection; `integration.authorization-declined`; `permission.denied` for an admin who is none
   * any more; `integration.provider-away`, `integration.provider-refused`; as `begin`.
   */
  async comeBack(
    user: SignedIn,
    connectionId: string,
    { request, back: { state, code, error }, cookieHeader }: TakenComeBack,
  ): Promise<string> {
    const cookie = nonceCookie(state as string, this.config.PUBLIC_URL);
    const nonce = readCookie(cookieHeader, cookie.name);
    if (
      !request.usable ||
      request.session_id !== user.sessionId ||
      request.user_id !== user.userId ||
      nonce === undefined
    )
      throw refused();
    if (request.connection_id !== connectionId || !isNonce(nonce, request.nonce_hash)) throw refused();
    const { orgId, permissions } = await this.principals.principalOf(
      await this.principals.upToDate({ kind: 'session', user }, request.org_id),
      request.org_id,
    );
    if (!permissions.has('integration:write'))
      throw new SlipwayError('permission.denied', 'You are no admin of the organization any more.');
    if (error !== undefined)
      throw new SlipwayError('integration.authorization-declined', 'The provider sent you back without its consent.');
    if (typeof code !== 'string' || code === '' || code.length > 4_096) throw refused();
    const authorizing = await this.authorizing(orgId, connectionId);
    const { tokens, found } = await this.redeem(authorizing, {
      code,
      verifier: verifierOf({ state: state as string, nonce }),
    });
    const place = { id: request.id, connectionId, kind: PENDING };
    const sealed = await this.envelope.seal(orgId, JSON.stringify(tokens), integrationSecretContext(place));
    const expiresAt = new Date(this.clock.now().getTime() + LINK_MS);
    const kept = await inOrg(this.pool, orgId, async (client) => {
      if (!(await noteFound(client, orgId, request.id, { found, expiresAt }))) return false;
      await insertSecret(client, orgId, { ...place, sealed });
      return true;
    });
    if (!kept) {
      await this.end(authorizing, tokens);
      throw refused();
    }
    return cookie.set('', 0);
  }

  /** @throws SlipwayError `resource.not-found` for what does not wait in this session. */
  async get({ orgId }: Principal, user: SignedIn, connectionId: string, id: string): Promise<PendingAuthorization> {
    const { row, pending } = await inOrg(this.pool, orgId, async (client) => ({
      row: await findConnection(client, orgId, connectionId),
      pending: await findPending(client, orgId, { connectionId, id, by: user, now: this.clock.now() }),
    }));
    if (row === null || pending === null) throw notFound();
    const { found, expires_at } = pending;
    const { ids, mention, name, account, accountName, scopes } = found;
    return {
      ...{ id, connectionId, expiresAt: expires_at.toISOString() },
      ...{ ids: [...ids], mention, name, account, accountName },
      accountBefore: account === null || row.account === account ? null : row.account,
      scopes: scopes === null ? null : [...scopes],
      missingScopes: missingOf(this.providers.get(row.provider)?.oauth?.scopes ?? [], scopes),
    };
  }

  /** What the connection had before is given back to the provider. @throws SlipwayError `resource.not-found` */
  async confirm(caller: Principal, user: SignedIn, connectionId: string, id: string): Promise<IntegrationConnection> {
    const { orgId } = caller;
    const { row, pending, secret } = await inOrg(this.pool, orgId, async (client) => ({
      row: await findConnection(client, orgId, connectionId),
      pending: await findPending(client, orgId, { connectionId, id, by: user, now: this.clock.now() }),
      secret: await findSecret(client, orgId, connectionId, { kind: PENDING, id }),
    }));
    if (row === null || pending === null || secret === null) throw notFound();
    const { found } = pending;
    const tokens = OAuthTokens.parse(
      JSON.parse(
        await this.envelope.open(orgId, secret, integrationSecretContext({ id, connectionId, kind: PENDING })),
      ),
    );
    const place = { id: this.ids.uuid(), connectionId, kind: 'oauth-tokens' };
    const sealed = await this.envelope.seal(orgId, JSON.stringify(tokens), integrationSecretContext(place));
    const signing =
      this.providers.get(row.provider)?.oauth?.signsWithClientSecret === row.signature
        ? await this.sealWebhookSecret(orgId, connectionId, tokens.clientSecret)
        : null;
    const made = {
      id: place.id,
      ...sealed,
      expiresAt: tokens.expiresAt === null ? null : new Date(tokens.expiresAt),
      renewAt: renewAtOf(tokens),
      scopes: found.scopes,
    };
    await inOrg(this.pool, orgId, async (client) => {
      if ((await lockConnection(client, orgId, connectionId)) === null) throw notFound();
      // Confirmed or given up by another request of this moment.
      if (
        !(await deleteRequest(client, orgId, id)) ||
        !(await deleteSecrets(client, orgId, connectionId, { kind: PENDING, id }))
      )
        throw notFound();
      await revokeTokens(client, orgId, { connectionId, kinds: ['oauth-tokens'] });
      await deleteSecrets(client, orgId, connectionId, { kind: 'token' });
      await deleteSecrets(client, orgId, connectionId, { kind: 'app-installation' });
      await insertTokens(client, orgId, connectionId, made);
      if (signing !== null) {
        await outdateSecrets(client, orgId, connectionId, OLD_SECRET_HOURS);
        await insertSecret(client, orgId, signing);
      }
      await installAs(client, orgId, connectionId, found);
      const detail = {
        name: row.name,
        provider: row.provider,
        host: row.host,
        as: found.name,
        ids: found.ids,
        account: found.account,
        scopes: found.scopes,
      };
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'integration.authorize', target: connectionId, detail }),
      );
    });
    return this.connections.get(caller, connectionId);
  }

  /** @throws SlipwayError `resource.not-found` */
  async decline({ orgId }: Principal, user: SignedIn, connectionId: string, id: string): Promise<void> {
    await inOrg(this.pool, orgId, async (client) => {
      if ((await findPending(client, orgId, { connectionId, id, by: user, now: this.clock.now() })) === null)
        throw notFound();
      await this.giveUp(client, orgId, connectionId, id);
    });
  }

  private async giveUp(client: PoolClient, orgId: string, connectionId: string, id: string): Promise<void> {
    await revokeTokens(client, orgId, { connectionId, kinds: [PENDING], ids: [id] });
    await deleteRequest(client, orgId, id);
  }

  private async redeem(
    authorizing: Authorizing,
    { code, verifier }: { readonly code: string; readonly verifier: string },
  ): Promise<{ tokens: OAuthTokens; found: Found }> {
    const { oauth, app, baseUrl, connection } = authorizing;
    let tokens: OAuthTokens | null = null;
    try {
      const redirectUri = callbackUrl(this.config.PUBLIC_URL, connection.id);
      const grant = await redeemCode(oauth, { baseUrl, app, code, redirectUri, verifier }, this.connect);
      tokens = tokensOf(grant, app, this.clock.now());
      const installation = await oauth.installation(
        this.connect(oauth.apiUrl(baseUrl), `Bearer ${grant.accessToken}`),
        baseUrl,
      );
      const mention = OwnIdentity.shape.mention.safeParse(installation.mention ?? undefined);
      return {
        tokens,
        found: {
          ...installation,
          mention: installation.mention === null || !mention.success ? null : mention.data,
          scopes: grant.scopes,
        },
      };
    } catch (thrown) {
      if (tokens !== null) await this.end(authorizing, tokens);
      throw this.calls.problem(thrown, connection.host);
    }
  }

  /** For unused tokens: tried once, since they were never given out. */
  private async end({ oauth, app, baseUrl, connection }: Authorizing, tokens: OAuthTokens): Promise<void> {
    try {
      await oauth.revoke?.({ baseUrl, app, tokens }, this.connect);
    } catch {
      this.logger.warn(
        { provider: connection.provider, host: connection.host },
        'failed to revoke tokens of an abandoned authorization',
      );
    }
  }

  private readonly connect = (url: string, authorization: string | null) =>
    this.calls.client(url, authorization, { maxAnswerBytes: MAX_ANSWER_BYTES });

  private async authorizing(orgId: string, connectionId: string): Promise<Authorizing> {
    const connection = await inOrg(this.pool, orgId, (client) => findConnection(client, orgId, connectionId));
    if (connection === null || connection.state === 'disabled') throw notFound();
    const baseUrl = baseUrlOf(connection);
    const oauth = oauthOf(this.providers.get(connection.provider), connection);
    if (oauth === null)
      throw new SlipwayError('integration.authorization-unsupported', `${connection.name} takes an access token.`);
    const app = await findOAuthApp(this.pool, this.envelope, orgId, connectionId);
    if (app === null)
      throw new SlipwayError('integration.no-oauth-client', `No OAuth client is entered for ${connection.name}.`);
    return { connection, oauth, app, baseUrl };
  }

  private async sealWebhookSecret(orgId: string, connectionId: string, secret: string) {
    const place = { id: this.ids.uuid(), connectionId, kind: 'webhook' };
    return { ...place, sealed: await this.envelope.seal(orgId, secret, integrationSecretContext(place)) };
  }
}

function refused(): SlipwayError {
  return new SlipwayError(
    'integration.authorization-refused',
    'This authorization was not begun in this browser and session, was used already, or took longer than ten minutes.',
  );
}
