import { Inject, Injectable } from '@nestjs/common';
import { Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import type { ReplaceAppSecrets } from '@slipway/contracts/integrations';
import type { Principal } from '@slipway/contracts/organizations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import {
  APP_SECRET,
  AppSecrets,
  findApp,
  InstalledApps,
  noteReleased,
  type OpenedApp,
} from '@slipway/integrations/apps';
import { openOAuthApp } from '@slipway/integrations/credentials';
import { auditOf } from '../../audit/audit-statement.js';
import { IDS, SQL_POOL } from '../../platform/tokens.js';
import { deleteSecrets, findConnection, findSecret, insertSecret, lockConnection } from '../connections.queries.js';
import { ProviderCalls } from '../provider-calls.js';

const OAUTH_CLIENT = 'oauth-client';
/** Attempts while other admins replace the secrets of the same app. */
const MAX_ATTEMPTS = 5;

/** What becomes of an app after it is registered: its secrets are replaced, its account is given up. */
@Injectable()
export class AppUpkeepService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    private readonly envelope: Envelope,
    private readonly calls: ProviderCalls,
    private readonly apps: InstalledApps,
  ) {}

  /**
   * The provider is asked first whether it takes them: until then, and where it does not, the ones before stay.
   * @throws SlipwayError `resource.not-found`, `integration.apps-unsupported`, `integration.no-secret` for the
   * platform's app, `integration.provider-away`, `integration.provider-refused`.
   */
  async replaceSecrets(caller: Principal, connectionId: string, given: ReplaceAppSecrets): Promise<void> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1)
      if (await this.replaced(caller, connectionId, given)) return;
    throw new Error('the secrets of the app were replaced again and again');
  }

  /** No-op where no account is claimed. @throws SlipwayError `resource.not-found`, `integration.apps-unsupported`. */
  async release(caller: Principal, connectionId: string): Promise<void> {
    const { orgId } = caller;
    await inOrg(this.pool, orgId, async (client) => {
      const row = await lockConnection(client, orgId, connectionId);
      if (row === null) throw notFound();
      const { app } = row;
      if (app === null) throw unsupported();
      if (!(await noteReleased(client, orgId, connectionId))) return;
      const detail = { provider: row.provider, name: row.name, host: row.host, account: app.account_login };
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'integration.release-account', target: connectionId, detail }),
      );
    });
  }

  /** False: they were replaced meanwhile. */
  private async replaced(caller: Principal, connectionId: string, given: ReplaceAppSecrets): Promise<boolean> {
    const { orgId } = caller;
    const row = await inOrg(this.pool, orgId, (client) => findConnection(client, orgId, connectionId));
    if (row === null) throw notFound();
    if (row.platform)
      throw new SlipwayError('integration.no-secret', 'The app is the platform’s: an operator replaces its secrets.');
    const opened = await this.apps.open(orgId, connectionId);
    if (opened === null) throw unsupported();
    const { privateKey = opened.app.privateKey, clientSecret = opened.app.clientSecret } = given;
    const next = { ...opened, app: { ...opened.app, privateKey, clientSecret } };
    await this.prove(next, given);
    const { clientId } = opened.app;
    const app = await this.seal(orgId, connectionId, APP_SECRET, AppSecrets.parse(next.app));
    const client =
      given.clientSecret === undefined
        ? null
        : await this.seal(orgId, connectionId, OAUTH_CLIENT, { clientId, clientSecret });
    const links = client !== null && (await this.linksBy(orgId, connectionId, clientId)) ? client : null;
    return inOrg(this.pool, orgId, async (transaction) => {
      if ((await lockConnection(transaction, orgId, connectionId)) === null) throw notFound();
      if ((await findApp(transaction, orgId, connectionId))?.secret?.id !== opened.stored.secret?.id) return false;
      await replace(transaction, orgId, app);
      if (links !== null) await replace(transaction, orgId, links);
      const secrets = Object.keys(given).filter((each) => given[each as keyof ReplaceAppSecrets] !== undefined);
      const detail = { provider: row.provider, name: row.name, host: row.host, app: opened.app.slug, secrets };
      await transaction.query(
        auditOf(this.ids.uuid(), caller, { action: 'integration.replace-app-secrets', target: connectionId, detail }),
      );
      return true;
    });
  }

  private async prove(next: OpenedApp, given: ReplaceAppSecrets): Promise<void> {
    const { access, app, baseUrl, stored } = next;
    const refused = (what: string): SlipwayError =>
      new SlipwayError('integration.provider-refused', `${stored.host} does not take the ${what} for this app.`);
    try {
      if (given.privateKey !== undefined && (await access.self(this.signing(next))) !== app.id)
        throw refused('private key');
      const api = (authorization: string) => this.calls.client(access.apiUrl(baseUrl), authorization);
      if (given.clientSecret !== undefined && !(await access.takesClient(app, api))) throw refused('client secret');
    } catch (error) {
      throw this.calls.problem(error, stored.host);
    }
  }

  /** @throws SlipwayError `integration.provider-refused` for a key that nothing can be signed with. */
  private signing(next: OpenedApp) {
    try {
      return this.apps.asApp(next);
    } catch {
      throw new SlipwayError(
        'integration.provider-refused',
        'Nothing can be signed with this private key: it is cut off, or of another kind.',
      );
    }
  }

  /**
   * Whether users link their accounts by the client of the app itself, and not by one that an admin has entered in its
   * place.
   */
  private async linksBy(orgId: string, connectionId: string, clientId: string): Promise<boolean> {
    const stored = await inOrg(this.pool, orgId, (client) =>
      findSecret(client, orgId, connectionId, { kind: OAUTH_CLIENT }),
    );
    if (stored === null) return false;
    return (await openOAuthApp(this.envelope, orgId, connectionId, stored)).clientId === clientId;
  }

  private async seal(
    orgId: string,
    connectionId: string,
    kind: typeof APP_SECRET | typeof OAUTH_CLIENT,
    value: object,
  ) {
    const place = { id: this.ids.uuid(), connectionId, kind };
    return {
      ...place,
      sealed: await this.envelope.seal(orgId, JSON.stringify(value), integrationSecretContext(place)),
    };
  }
}

async function replace(
  client: PoolClient,
  orgId: string,
  secret: Parameters<typeof insertSecret>[2] & { kind: 'app' | 'oauth-client' },
): Promise<void> {
  await deleteSecrets(client, orgId, secret.connectionId, { kind: secret.kind });
  await insertSecret(client, orgId, secret);
}

function unsupported(): SlipwayError {
  return new SlipwayError('integration.apps-unsupported', 'The connection is by no app.');
}
