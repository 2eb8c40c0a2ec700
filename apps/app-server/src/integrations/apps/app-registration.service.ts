import { randomBytes, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { SignedIn } from '@slipway/auth';
import { Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import {
  ConnectionSettings,
  MAX_CONNECTIONS,
  OwnIdentity,
  REGISTER_MINUTES,
  type RegisterApp,
  type RegistrationBegun,
} from '@slipway/contracts/integrations';
import { type Principal } from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { type AppAccess, baseUrlOf, isAtHost, type NewApp, type Provider } from '@slipway/integrations';
import { APP_SECRET } from '@slipway/integrations/apps';
import { assertOutside } from '@slipway/outside';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { CLOCK, CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';
import { invalid } from '../code-host-address.js';
import { countConnections, insertConnection, insertSecret } from '../connections.queries.js';
import { KNOWN_PROVIDERS } from '../known-providers.js';
import { hashOf, makeProof, nonceCookie } from '../linking/link-proof.js';
import { ProviderCalls } from '../provider-calls.js';
import { AppComeBack, type ComeBack } from './app-come-back.js';
import { findRegistration, insertAppRequest, proveRequest, type RequestDetail } from './app-requests.queries.js';
import { insertApp } from './apps.queries.js';
import { registrationPage } from './registration-page.js';

/** Attempts of one user in one organization that are open at once, beside the one that begins. */
const MAX_OPEN = 4;
export const APP_KIND = 'app';
const OAUTH_CLIENT = 'oauth-client';

/**
 * Registers an app of the organization from a manifest: the admin's own browser takes it to the provider, and what
 * comes back is redeemed once.
 */
@Injectable()
export class AppRegistrationService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(KNOWN_PROVIDERS) private readonly providers: ReadonlyMap<string, Provider>,
    private readonly envelope: Envelope,
    private readonly calls: ProviderCalls,
    private readonly back: AppComeBack,
  ) {}

  /**
   * @throws SlipwayError `request.invalid`, `integration.apps-unsupported`, `integration.too-many`,
   * `settings.url-refused`.
   */
  async begin(user: SignedIn, { orgId }: Principal, body: RegisterApp): Promise<RegistrationBegun> {
    const provider = this.providers.get(body.provider);
    if (provider === undefined) throw invalid('provider', `is none of ${[...this.providers.keys()].join(', ')}`);
    this.accessOf(provider.id);
    const host = body.host ?? provider.host;
    if (host === null) throw invalid('host', `is required for ${provider.name}`);
    const { baseUrl = null, owner = null, name } = body;
    if (baseUrl !== null && !isAtHost(baseUrl, host))
      throw invalid('baseUrl', `is not at ${host}, the host of the connection`);
    await this.assertCallable({ host, settings: { baseUrl } });
    const now = this.clock.now();
    const id = randomUUID();
    const expiresAt = new Date(now.getTime() + REGISTER_MINUTES * 60_000);
    const { userId, sessionId } = user;
    const detail: RequestDetail = { name, host, baseUrl, owner };
    await inOrg(this.pool, orgId, async (client) => {
      if ((await countConnections(client, orgId)) >= MAX_CONNECTIONS)
        throw new SlipwayError('integration.too-many', `There are ${MAX_CONNECTIONS} connections already.`);
      const made = {
        id,
        userId,
        sessionId,
        kind: 'register' as const,
        connectionId: randomUUID(),
        provider: provider.id,
        detail,
        proof: null,
        expiresAt,
      };
      await insertAppRequest(client, orgId, made, { keep: MAX_OPEN, now });
    });
    return { url: this.url(`/oauth/integrations/apps/register/${id}`), expiresAt: expiresAt.toISOString() };
  }

  /**
   * The page that takes this browser to the provider; its state is made here, and stays in it. @throws SlipwayError
   * `integration.app-refused`
   */
  async form(user: SignedIn, id: string): Promise<{ html: string; policy: string; cookie: string }> {
    const request = await findRegistration(this.pool, id, user, this.clock.now());
    if (request === null) throw this.back.refused();
    const { org_id: orgId, connection_id: connectionId, detail } = request;
    await this.back.principalIn(user, orgId);
    const proof = makeProof(randomBytes);
    await inOrg(this.pool, orgId, (client) =>
      proveRequest(client, orgId, id, { stateHash: hashOf(proof.state), nonceHash: hashOf(proof.nonce) }),
    );
    const form = this.accessOf(request.provider).registration({
      baseUrl: baseUrlOf({ host: detail.host, settings: detail }),
      owner: detail.owner,
      name: detail.name,
      state: proof.state,
      homeUrl: this.config.PUBLIC_URL,
      deliveriesUrl: this.url(`/api/integration/${request.provider}/events/${connectionId}`),
      registeredUrl: this.url(`/oauth/integrations/apps/${connectionId}/registered`),
      callbackUrls: [
        this.url(`/oauth/integrations/apps/${connectionId}/installed`),
        this.url(`/oauth/integrations/callback/${connectionId}`),
      ],
    });
    const cookie = nonceCookie(proof.state, this.config.PUBLIC_URL).set(proof.nonce, REGISTER_MINUTES * 60);
    return { ...registrationPage(form, randomBytes(16).toString('base64')), cookie };
  }

  /**
   * Redeems the code of a registration and makes the connection. The state is used up, whoever brings it.
   * @throws SlipwayError `integration.app-refused`, `integration.too-many`, `integration.provider-away`,
   * `integration.provider-refused`.
   */
  async finish(user: SignedIn, connectionId: string, came: ComeBack): Promise<{ id: string; cookie: string }> {
    const { request, principal, cookie } = await this.back.take(user, { connectionId, kind: 'register' }, came);
    const { code } = came.query;
    if (typeof code !== 'string' || !/^[\w.-]{1,500}$/.test(code)) throw this.back.refused();
    const { detail, provider } = request;
    const access = this.accessOf(provider);
    const at = { host: detail.host, settings: { baseUrl: detail.baseUrl } };
    await this.assertCallable(at);
    const app = await access
      .register(this.calls.client(access.apiUrl(baseUrlOf(at)), null), code)
      .catch((error: unknown) => Promise.reject(this.calls.problem(error, detail.host)));
    await this.save(principal, { connectionId, provider, detail }, app);
    return { id: connectionId, cookie };
  }

  private async save(
    caller: Principal,
    {
      connectionId,
      provider,
      detail,
    }: { readonly connectionId: string; readonly provider: string; readonly detail: RequestDetail },
    app: NewApp,
  ): Promise<void> {
    const { orgId } = caller;
    const { clientId, clientSecret, privateKey, webhookSecret, id: appId, slug, url } = app;
    const secrets = await Promise.all([
      this.seal(orgId, connectionId, 'webhook', webhookSecret),
      this.seal(orgId, connectionId, APP_SECRET, JSON.stringify({ clientId, clientSecret, privateKey })),
      // The same client links accounts: its callback address is among those of the manifest.
      this.seal(orgId, connectionId, OAUTH_CLIENT, JSON.stringify({ clientId, clientSecret })),
    ]);
    const signature = this.providers.get(provider)?.connections.find(({ kind }) => kind === APP_KIND)?.signature;
    if (signature === undefined) throw new Error(`${provider} has no connections by an app`);
    await inOrg(this.pool, orgId, async (client) => {
      const own = OwnIdentity.parse({ ids: [appId], mention: mentionOf(slug) });
      const settings = ConnectionSettings.parse({ baseUrl: detail.baseUrl });
      const made = {
        id: connectionId,
        provider,
        kind: APP_KIND,
        name: detail.name,
        host: detail.host,
        account: null,
        signature,
        own,
        settings,
        by: caller.actor,
      };
      await insertConnection(client, orgId, made);
      for (const secret of secrets) await insertSecret(client, orgId, secret);
      await insertApp(client, orgId, { connectionId, appId, slug, url, state: 'registered' });
      const audited = { provider, name: detail.name, host: detail.host, app: slug, owner: app.owner };
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'integration.register-app', target: connectionId, detail: audited }),
      );
    });
  }

  /** @throws SlipwayError `integration.apps-unsupported` */
  private accessOf(provider: string): AppAccess {
    const access = this.providers.get(provider)?.apps;
    if (access === undefined)
      throw new SlipwayError('integration.apps-unsupported', 'Slipway registers no apps at this provider.');
    return access;
  }

  private async assertCallable(at: {
    readonly host: string;
    readonly settings: { readonly baseUrl: string | null };
  }): Promise<void> {
    const url = new URL(baseUrlOf(at));
    await assertOutside(url.href, this.config.INTEGRATION_PRIVATE_HOSTS.includes(url.host));
  }

  private async seal(orgId: string, connectionId: string, kind: string, value: string) {
    const place = { id: this.ids.uuid(), connectionId, kind };
    return { ...place, sealed: await this.envelope.seal(orgId, value, integrationSecretContext(place)) };
  }

  private url(path: string): string {
    return new URL(path, this.config.PUBLIC_URL).href;
  }
}

/** As people will mention it; a slug that is no such name is mentioned as `slipway`. */
function mentionOf(slug: string): string {
  return OwnIdentity.shape.mention.safeParse(slug).data ?? 'slipway';
}
