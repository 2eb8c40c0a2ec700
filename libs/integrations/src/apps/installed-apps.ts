import { type Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import { z } from 'zod';
import { baseUrlOf } from '../base-url.js';
import type { ProviderClient } from '../calls/provider-client.js';
import { ProviderRefusal } from '../calls/provider-refusal.js';
import type { Connect } from '../linking/account-linking.js';
import type { Provider } from '../provider.js';
import type { AppAccess, AppStep, RegisteredApp } from './app-access.js';
import { type AskedToken, InstallationTokens } from './installation-tokens.js';
import type { PlatformApps } from './platform-apps.js';
import {
  APP_SECRET,
  findApp,
  type InstallationFacts,
  noteRemoved,
  type StoredApp,
  writeFacts,
} from './stored-apps.queries.js';

/** What of an app is sealed with the organization's data key. */
export const AppSecrets = z.object({ clientId: z.string(), clientSecret: z.string(), privateKey: z.string() });
export type AppSecrets = z.infer<typeof AppSecrets>;

/** An app of a connection with its secrets. */
export interface OpenedApp {
  readonly stored: StoredApp;
  readonly app: RegisteredApp;
  readonly access: AppAccess;
  readonly baseUrl: string;
}

export interface InstalledAppsOptions {
  readonly pool: SqlPool;
  readonly envelope: Envelope;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly platform: PlatformApps;
  readonly connect: Connect;
  readonly now: () => Date;
}

/**
 * Calls as the apps of connections: as the app itself, or by a token of its installation that is narrowed to what the
 * call is for.
 */
export class InstalledApps {
  readonly tokens: InstallationTokens;

  constructor(private readonly options: InstalledAppsOptions) {
    this.tokens = new InstallationTokens(options.now);
  }

  /**
   * `null`: the connection is by no app, or the operator's is not configured any more. @throws SlipwayError
   * `secret.unreadable`
   */
  async open(orgId: string, connectionId: string): Promise<OpenedApp | null> {
    const { pool, envelope, providers, platform } = this.options;
    const stored = await inOrg(pool, orgId, (client) => findApp(client, orgId, connectionId));
    if (stored === null) return null;
    const access = providers.get(stored.provider)?.apps;
    if (access === undefined) return null;
    const baseUrl = baseUrlOf(stored);
    if (stored.platform) {
      const app = platform[stored.provider];
      // Another app than the one that was installed has none of its installations.
      return app === undefined || app.id !== stored.appId ? null : { stored, app, access, baseUrl };
    }
    if (stored.secret === null) return null;
    const { id, ...sealed } = stored.secret;
    try {
      const opened = await envelope.open(
        orgId,
        sealed,
        integrationSecretContext({ id, connectionId, kind: APP_SECRET }),
      );
      return {
        stored,
        app: { ...AppSecrets.parse(JSON.parse(opened)), id: stored.appId, slug: stored.slug },
        access,
        baseUrl,
      };
    } catch (error) {
      throw new SlipwayError('secret.unreadable', 'The secrets of the app cannot be opened.', { cause: error });
    }
  }

  /** As the app itself. */
  asApp({ access, app, baseUrl }: OpenedApp): ProviderClient {
    return this.options.connect(access.apiUrl(baseUrl), access.authorization(app, this.options.now()));
  }

  /** By a token of the installation. @throws ProviderRefusal */
  async asInstallation(
    opened: OpenedApp,
    at: { readonly installationId: string; readonly repository: string | null; readonly step: AppStep },
  ) {
    const { token } = await this.tokens.get(this.asked(opened, at));
    return this.options.connect(opened.access.apiUrl(opened.baseUrl), `Bearer ${token}`);
  }

  asked(
    opened: OpenedApp,
    at: { readonly installationId: string; readonly repository: string | null; readonly step: AppStep },
  ): AskedToken {
    const { access, app, stored, baseUrl } = opened;
    const connect = (authorization: string): ProviderClient =>
      this.options.connect(access.apiUrl(baseUrl), authorization);
    return { access, app, connect, connectionId: stored.connectionId, granted: stored.permissions, ...at };
  }

  /** What the provider says now. @throws ProviderRefusal */
  async facts(opened: OpenedApp, installationId: string): Promise<InstallationFacts> {
    const { access, app } = opened;
    const installation = await access.installation(this.asApp(opened), installationId).catch((error: unknown) => {
      throw error instanceof ProviderRefusal && error.kind === 'missing'
        ? new GoneInstallation(error.message, error, { cause: error })
        : error;
    });
    if (installation.suspended) return { installation, repositories: null, bot: null };
    const current = { ...opened, stored: { ...opened.stored, permissions: installation.permissions } };
    const api = await this.asInstallation(current, { installationId, repository: null, step: 'list' });
    const [repositories, bot] = await Promise.all([access.countRepositories(api), access.bot(api, app)]);
    return { installation, repositories, bot };
  }

  /**
   * Asks the provider and writes what it says; an unknown one was uninstalled. False: there is no verified
   * installation. @throws ProviderRefusal
   */
  async refresh(orgId: string, connectionId: string): Promise<boolean> {
    const opened = await this.open(orgId, connectionId);
    if (opened === null || !isProved(opened.stored)) return false;
    const { installationId } = opened.stored;
    const facts = await this.facts(opened, installationId).catch((error: unknown) => {
      if (error instanceof GoneInstallation) return null;
      throw error;
    });
    await inOrg(this.options.pool, orgId, async (client) => {
      const now = await findApp(client, orgId, connectionId);
      // Uninstalled or installed again meanwhile: the newer state wins.
      if (now === null || !isProved(now) || now.installationId !== installationId) return;
      if (facts === null) await noteRemoved(client, orgId, connectionId);
      else await writeFacts(client, orgId, { connectionId, facts, at: this.options.now() });
    });
    return facts !== null;
  }
}

/** The provider takes the app's word for who it is, and knows no such installation of it. */
class GoneInstallation extends ProviderRefusal {}

/** Whether a user verifiably administers the account of the installation. */
export function isProved(stored: StoredApp): stored is StoredApp & { readonly installationId: string } {
  return stored.installationId !== null && (stored.state === 'installed' || stored.state === 'suspended');
}
