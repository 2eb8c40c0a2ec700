import { randomBytes, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { SignedIn } from '@slipway/auth';
import { Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import {
  ConnectionSettings,
  INSTALL_MINUTES,
  type InstallApp,
  type InstallationBegun,
  type InstallPlatformApp,
  MAX_CONNECTIONS,
  OwnIdentity,
} from '@slipway/contracts/integrations';
import { type Principal } from '@slipway/contracts/organizations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { authorizeUrl, baseUrlOf, type Installation, type Provider } from '@slipway/integrations';
import {
  INSTALLATION_SECRET,
  type InstallationFacts,
  InstalledApps,
  type OpenedApp,
  sealedInstallation,
  writeFacts,
} from '@slipway/integrations/apps';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { CLOCK, CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';
import {
  countConnections,
  deleteSecrets,
  findConnection,
  insertConnection,
  insertSecret,
  lockConnection,
} from '../connections.queries.js';
import { KNOWN_PROVIDERS } from '../known-providers.js';
import { challengeOf, hashOf, makeProof, nonceCookie, verifierOf } from '../linking/link-proof.js';
import { ProviderCalls } from '../provider-calls.js';
import { AppComeBack, type ComeBack } from './app-come-back.js';
import { APP_KIND } from './app-registration.service.js';
import { insertAppRequest, type RequestDetail, type TakenAppRequest } from './app-requests.queries.js';
import { claimAccount, findUnbound, insertApp, noteRequested, setAccount } from './apps.queries.js';
import { OwnershipCheck } from './ownership-check.js';

const MAX_OPEN = 4;

/**
 * Installs the app of a connection, or the platform's, on an account. What a browser says of an installation is
 * believed when the user's own token shows it and they administer the account.
 */
@Injectable()
export class AppInstallationService {
  private readonly ownership: OwnershipCheck;

  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(KNOWN_PROVIDERS) private readonly providers: ReadonlyMap<string, Provider>,
    private readonly envelope: Envelope,
    private readonly calls: ProviderCalls,
    private readonly apps: InstalledApps,
    private readonly back: AppComeBack,
  ) {
    this.ownership = new OwnershipCheck((url, authorization) => this.calls.client(url, authorization));
  }

  /** @throws SlipwayError `resource.not-found`, `integration.apps-unsupported`. */
  async begin(user: SignedIn, { orgId }: Principal, connectionId: string, { installed }: InstallApp) {
    const row = await inOrg(this.pool, orgId, (client) => findConnection(client, orgId, connectionId));
    if (row === null) throw notFound();
    const opened = await this.apps.open(orgId, connectionId);
    if (opened === null) throw unsupported();
    const detail = { name: row.name, host: row.host, baseUrl: row.settings.baseUrl ?? null, owner: null };
    return this.begun(user, orgId, opened, { detail, installed });
  }

  /** Of the platform's app. @throws SlipwayError `integration.apps-unsupported`, `integration.too-many`. */
  async beginPlatform(user: SignedIn, { orgId }: Principal, body: InstallPlatformApp) {
    const provider = this.providers.get(body.provider);
    const host = provider?.host ?? null;
    if (provider === undefined || host === null || this.config.INTEGRATION_APPS[provider.id] === undefined)
      throw unsupported();
    const connectionId = await inOrg(this.pool, orgId, async (client) => {
      const unbound = await findUnbound(client, orgId, provider.id);
      if (unbound === null && (await countConnections(client, orgId)) >= MAX_CONNECTIONS)
        throw new SlipwayError('integration.too-many', `There are ${MAX_CONNECTIONS} connections already.`);
      return unbound ?? randomUUID();
    });
    const detail = { name: body.name ?? provider.name, host, baseUrl: null, owner: null };
    return this.begun(user, orgId, this.platformApp(provider.id, connectionId, host), { detail, installed: false });
  }

  /**
   * Takes the installation that the browser came back from. The state is used up, whoever brings it.
   * @param at the connection of the address, or the provider whose platform app it is of.
   * @throws SlipwayError `integration.app-refused`, `integration.not-installed`, `integration.not-administered`,
   * `integration.account-claimed`, `integration.provider-away`, `integration.provider-refused`.
   */
  async finish(
    user: SignedIn,
    at: { readonly connectionId: string } | { readonly platform: string },
    came: ComeBack,
  ): Promise<{ id: string; cookie: string }> {
    const { request, principal, cookie, nonce } = await this.back.take(user, { ...at, kind: 'install' }, came);
    const { query } = came;
    const { connection_id: id, org_id: orgId, detail } = request;
    const opened = 'platform' in at ? this.platformApp(at.platform, id, detail.host) : await this.apps.open(orgId, id);
    if (opened === null || opened.stored.platform !== 'platform' in at) throw this.back.refused();
    if (query.error !== undefined)
      throw new SlipwayError('integration.app-refused', 'The provider sent you back without its consent.');
    if (query.setup_action === 'request') {
      await inOrg(this.pool, orgId, async (client) => {
        await this.ensure(client, principal, request, { opened, state: 'requested' });
        await noteRequested(client, orgId, id);
      });
      return { id, cookie };
    }
    const { code, installation_id: claimed } = query;
    if (typeof code !== 'string' || code === '' || code.length > 4_096) throw this.back.refused();
    if (claimed !== undefined && (typeof claimed !== 'string' || !/^[0-9]{1,20}$/.test(claimed)))
      throw this.back.refused();
    const authorized = detail.authorized === true;
    const sent = authorized
      ? { redirectUri: this.callbackUrl(opened), verifier: verifierOf({ state: String(query.state), nonce }) }
      : {};
    const facts = await this.asking(opened, async () => {
      const proved = await this.ownership.prove(opened, { code, ...sent }, claimed ?? null);
      return this.apps.facts(opened, proved.id);
    });
    await this.bind(principal, request, opened, facts);
    return { id, cookie };
  }

  /**
   * @throws SlipwayError `resource.not-found`, `integration.apps-unsupported`, `integration.not-installed`,
   * `integration.provider-away`, `integration.provider-refused`.
   */
  async refresh({ orgId }: Principal, connectionId: string): Promise<void> {
    const row = await inOrg(this.pool, orgId, (client) => findConnection(client, orgId, connectionId));
    if (row === null) throw notFound();
    const opened = await this.apps.open(orgId, connectionId);
    if (opened === null) throw unsupported();
    const done = await this.asking(opened, () => this.apps.refresh(orgId, connectionId));
    if (!done) throw new SlipwayError('integration.not-installed', 'The app is not installed yet, or was uninstalled.');
  }

  private async begun(
    user: SignedIn,
    orgId: string,
    opened: OpenedApp,
    { detail, installed }: { readonly detail: RequestDetail; readonly installed: boolean },
  ): Promise<{ begun: InstallationBegun; cookie: string }> {
    const { stored, app, access, baseUrl } = opened;
    const proof = makeProof(randomBytes);
    const now = this.clock.now();
    const expiresAt = new Date(now.getTime() + INSTALL_MINUTES * 60_000);
    const hashes = { stateHash: hashOf(proof.state), nonceHash: hashOf(proof.nonce) };
    const { connectionId, provider } = stored;
    const { userId, sessionId } = user;
    const made = {
      id: randomUUID(),
      userId,
      sessionId,
      kind: 'install' as const,
      connectionId,
      provider,
      proof: hashes,
      expiresAt,
    };
    await inOrg(this.pool, orgId, (client) =>
      insertAppRequest(
        client,
        orgId,
        { ...made, detail: { ...detail, authorized: installed } },
        { keep: MAX_OPEN, now },
      ),
    );
    const linking = this.providers.get(provider)?.linking;
    if (linking === undefined) throw unsupported();
    const asked = {
      baseUrl,
      clientId: app.clientId,
      redirectUri: this.callbackUrl(opened),
      state: proof.state,
      challenge: challengeOf(proof),
    };
    const url = installed
      ? authorizeUrl(linking, asked)
      : access.installUrl({ baseUrl, slug: app.slug, state: proof.state });
    return {
      begun: { url, expiresAt: expiresAt.toISOString() },
      cookie: nonceCookie(proof.state, this.config.PUBLIC_URL).set(proof.nonce, INSTALL_MINUTES * 60),
    };
  }

  private async bind(
    principal: Principal,
    request: TakenAppRequest,
    opened: OpenedApp,
    facts: InstallationFacts,
  ): Promise<void> {
    const { orgId } = principal;
    const { connection_id: connectionId, provider } = request;
    const { installation } = facts;
    const place = { id: this.ids.uuid(), connectionId, kind: INSTALLATION_SECRET };
    const sealed = await this.envelope.seal(
      orgId,
      sealedInstallation(installation.id),
      integrationSecretContext(place),
    );
    await inOrg(this.pool, orgId, async (client) => {
      await this.ensure(client, principal, request, { opened, state: 'registered' });
      if ((await lockConnection(client, orgId, connectionId)) === null) throw notFound();
      // By where it is called, so that another way of writing the host is no other account.
      const host = new URL(opened.baseUrl).host;
      if (!(await claimAccount(client, orgId, { provider, host, accountId: installation.account.id, connectionId })))
        throw claimed(installation);
      await deleteSecrets(client, orgId, connectionId, { kind: INSTALLATION_SECRET });
      await insertSecret(client, orgId, { ...place, sealed });
      await setAccount(client, orgId, connectionId, installation.id);
      await writeFacts(client, orgId, { connectionId, facts, at: this.clock.now() });
      const detail = {
        provider,
        host,
        account: installation.account.login,
        installation: installation.id,
        repositories: installation.repositories,
      };
      await client.query(
        auditOf(this.ids.uuid(), principal, { action: 'integration.install-app', target: connectionId, detail }),
      );
    });
  }

  /** Of the platform's app a connection is there from the first installation on. */
  private async ensure(
    client: PoolClient,
    { orgId, actor }: Principal,
    { connection_id: id, provider, detail }: TakenAppRequest,
    { opened: { stored, app }, state }: { readonly opened: OpenedApp; readonly state: 'registered' | 'requested' },
  ): Promise<void> {
    if (!stored.platform || (await findConnection(client, orgId, id)) !== null) return;
    const signature = this.providers.get(provider)?.connections[0]?.signature ?? '';
    const made = {
      id,
      provider,
      kind: APP_KIND,
      name: detail.name,
      host: detail.host,
      account: null,
      signature,
      platform: true,
      by: actor,
    };
    const own = OwnIdentity.parse({
      ids: [app.id],
      mention: OwnIdentity.shape.mention.safeParse(app.slug).data ?? 'slipway',
    });
    await insertConnection(client, orgId, { ...made, own, settings: ConnectionSettings.parse({}) });
    await insertApp(client, orgId, { connectionId: id, appId: app.id, slug: app.slug, url: null, state });
  }

  /** @throws SlipwayError `integration.apps-unsupported` */
  private platformApp(provider: string, connectionId: string, host: string): OpenedApp {
    const access = this.providers.get(provider)?.apps;
    const app = this.config.INTEGRATION_APPS[provider];
    if (access === undefined || app === undefined) throw unsupported();
    const unbound = { state: 'registered', installationId: null, permissions: null, secret: null };
    const stored = {
      ...unbound,
      connectionId,
      provider,
      host,
      settings: {},
      platform: true,
      appId: app.id,
      slug: app.slug,
    };
    return { stored, app, access, baseUrl: baseUrlOf(stored) };
  }

  private callbackUrl({ stored: { platform, provider, connectionId } }: OpenedApp): string {
    const at = platform ? `platform-apps/${encodeURIComponent(provider)}` : `apps/${encodeURIComponent(connectionId)}`;
    return new URL(`/oauth/integrations/${at}/installed`, this.config.PUBLIC_URL).href;
  }

  private async asking<T>({ stored }: OpenedApp, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.calls.problem(error, stored.host);
    }
  }
}

function unsupported(): SlipwayError {
  return new SlipwayError(
    'integration.apps-unsupported',
    'The connection is by no app, or the operator has registered none.',
  );
}

function claimed({ account }: Installation): SlipwayError {
  return new SlipwayError(
    'integration.account-claimed',
    `${account.login} belongs to another connection. Ask the admins of the organization that has it.`,
  );
}
