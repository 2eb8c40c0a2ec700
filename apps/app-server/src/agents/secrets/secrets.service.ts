import { Inject, Injectable } from '@nestjs/common';
import { Envelope, secretContext } from '@slipway/auth/envelope';
import { MIN_MASKED_LENGTH } from '@slipway/contracts/events';
import { type Principal } from '@slipway/contracts/organizations';
import {
  type CreateOwnSecret,
  type CreateSecret,
  type ListSecretsQuery,
  MAX_ORG_SECRETS,
  MAX_OWN_SECRETS,
  repositoryKey,
  type Secret,
  type SecretList,
  type SecretPage,
  type SecretScope,
  type UpdateSecret,
} from '@slipway/contracts/secrets';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { auditOf } from '../../audit/audit-statement.js';
import { readOrgSettings } from '../../organizations/org-settings/org-settings.queries.js';
import { IDS, SQL_POOL } from '../../platform/tokens.js';
import { readSecretCursor, writeSecretCursor } from './secret-cursor.js';
import {
  countSecrets,
  deleteSecret,
  hasConversation,
  insertSecret,
  listSecrets,
  lockSecret,
  type SecretFilter,
  type SecretRow,
  updateSecret,
} from './secrets.queries.js';

/** Which of the three routes a caller uses: what it covers is theirs to change. */
export type SecretRoute =
  | { readonly to: 'organization' }
  | { readonly to: 'person' }
  | { readonly to: 'conversation'; readonly id: string };

/** What counts together for `MAX_ORG_SECRETS`. */
const SHARED: readonly SecretScope[] = ['org', 'environment', 'repository'];

/**
 * Secrets are taken in, listed by name and given out to sandboxes (apps/worker/src/start); nothing here can show a
 * value. Each change is in the audit, with names and never values.
 */
@Injectable()
export class SecretsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    private readonly envelope: Envelope,
  ) {}

  async page(caller: Principal, query: ListSecretsQuery): Promise<SecretPage> {
    const filter: SecretFilter = {
      scopes: query.scope === undefined ? [...SHARED, 'conversation'] : [query.scope],
      scopeValue:
        query.scopeValue === undefined
          ? null
          : query.scope === 'repository'
            ? repositoryOrItself(query.scopeValue)
            : query.scopeValue,
    };
    const after = query.cursor === undefined ? null : readSecretCursor(query.cursor);
    const rows = await inOrg(this.pool, caller.orgId, (client) =>
      listSecrets(client, caller.orgId, filter, { after, limit: query.limit + 1 }),
    );
    const data = rows.slice(0, query.limit).map(toSecret);
    const last = data.at(-1);
    return {
      data,
      page: { nextCursor: rows.length > query.limit && last !== undefined ? writeSecretCursor(last) : null },
    };
  }

  /** @throws SlipwayError `resource.not-found` when there is no such conversation. */
  async own(caller: Principal, route: SecretRoute): Promise<SecretList> {
    return inOrg(this.pool, caller.orgId, async (client) => {
      await this.assertThere(client, caller, route);
      return {
        data: (
          await listSecrets(client, caller.orgId, filterOf(caller, route), { after: null, limit: MAX_OWN_SECRETS })
        ).map(toSecret),
      };
    });
  }

  /**
   * @throws SlipwayError `secret.name-taken`, `secret.too-many`, `secret.not-allowed`, `resource.not-found` (no such
   * conversation).
   */
  async create(
    caller: Principal,
    route: SecretRoute,
    body: CreateOwnSecret & Partial<Pick<CreateSecret, 'scope' | 'scopeValue'>>,
  ): Promise<Secret> {
    const { scope, scopeValue } = receiverOf(caller, route, body);
    const sealed = await this.envelope.seal(
      caller.orgId,
      body.value,
      secretContext({ kind: body.kind, scope, scopeValue, name: body.name }),
    );
    return inOrg(this.pool, caller.orgId, async (client) => {
      await this.assertThere(client, caller, scope === 'conversation' ? { to: 'conversation', id: scopeValue } : route);
      await this.assertRoom(client, caller, scope, scopeValue);
      const row = await insertSecret(client, caller.orgId, {
        id: this.ids.prefixed('sec'),
        name: body.name,
        kind: body.kind,
        scope,
        scopeValue,
        host: body.host ?? null,
        username: body.username ?? null,
        description: body.description,
        sealed: sealed.bytes,
        keyVersion: sealed.keyVersion,
        masked: body.value.length >= MIN_MASKED_LENGTH,
        by: caller.actor,
      });
      if (row === null)
        throw new SlipwayError('secret.name-taken', `There is a secret ${body.name} for the same receivers.`);
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'secret.create', target: row.id, detail: named(row) }),
      );
      return toSecret(row);
    });
  }

  /** @throws SlipwayError `resource.not-found` */
  async update(caller: Principal, route: SecretRoute, id: string, change: UpdateSecret): Promise<Secret> {
    const filter = filterOf(caller, route);
    const before = await inOrg(this.pool, caller.orgId, (client) => lockSecret(client, caller.orgId, filter, id));
    if (before === null) throw notFound();
    if (change.username !== undefined && before.kind !== 'git') throw invalid('username', 'is for git secrets only');
    if (change.value !== undefined && before.kind === 'git' && /[\r\n]/.test(change.value))
      throw invalid('value', 'of a git secret is one line');
    // What it is bound to never changes, so that it can be sealed before the row is locked.
    const sealed =
      change.value === undefined
        ? null
        : await this.envelope.seal(
            caller.orgId,
            change.value,
            secretContext({ ...before, scopeValue: before.scope_value }),
          );
    return inOrg(this.pool, caller.orgId, async (client) => {
      const row = await lockSecret(client, caller.orgId, filter, id);
      if (row === null) throw notFound();
      const after = await updateSecret(client, caller.orgId, id, {
        description: change.description ?? row.description,
        username: change.username ?? row.username,
        value:
          sealed === null
            ? null
            : {
                sealed: sealed.bytes,
                keyVersion: sealed.keyVersion,
                masked: (change.value ?? '').length >= MIN_MASKED_LENGTH,
              },
        by: caller.actor,
      });
      const changed = (['description', 'username'] as const).filter((field) => row[field] !== after[field]);
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'secret.update',
          target: id,
          detail: { ...named(row), newValue: sealed !== null },
          before: Object.fromEntries(changed.map((field) => [field, row[field]])),
          after: Object.fromEntries(changed.map((field) => [field, after[field]])),
        }),
      );
      return toSecret(after);
    });
  }

  /** @throws SlipwayError `resource.not-found` */
  async delete(caller: Principal, route: SecretRoute, id: string): Promise<void> {
    await inOrg(this.pool, caller.orgId, async (client) => {
      const row = await lockSecret(client, caller.orgId, filterOf(caller, route), id);
      if (row === null) throw notFound();
      await deleteSecret(client, caller.orgId, id);
      await client.query(auditOf(this.ids.uuid(), caller, { action: 'secret.delete', target: id, detail: named(row) }));
    });
  }

  private async assertThere(client: PoolClient, caller: Principal, route: SecretRoute): Promise<void> {
    if (route.to === 'conversation' && !(await hasConversation(client, caller.orgId, route.id))) throw notFound();
  }

  /** Two at the same moment may both find the last place: the limit is there to bound, not to count. */
  private async assertRoom(
    client: PoolClient,
    caller: Principal,
    scope: SecretScope,
    scopeValue: string,
  ): Promise<void> {
    const isOwn = scope === 'person' || scope === 'conversation';
    if (isOwn && !(await readOrgSettings(client, caller.orgId)).memberSecrets)
      throw new SlipwayError('secret.not-allowed', 'The setting memberSecrets of this organization is off.');
    const limit = isOwn ? MAX_OWN_SECRETS : MAX_ORG_SECRETS;
    const count = await countSecrets(
      client,
      caller.orgId,
      isOwn ? { scopes: [scope], scopeValue } : { scopes: SHARED, scopeValue: null },
    );
    if (count >= limit) throw new SlipwayError('secret.too-many', `There are ${limit} secrets already.`);
  }
}

function filterOf(caller: Principal, route: SecretRoute): SecretFilter {
  if (route.to === 'person') return { scopes: ['person'], scopeValue: caller.actor.id };
  if (route.to === 'conversation') return { scopes: ['conversation'], scopeValue: route.id };
  return { scopes: [...SHARED, 'conversation'], scopeValue: null };
}

function receiverOf(
  caller: Principal,
  route: SecretRoute,
  body: { scope?: CreateSecret['scope'] | undefined; scopeValue?: string | undefined },
): { scope: SecretScope; scopeValue: string } {
  if (route.to === 'person') return { scope: 'person', scopeValue: caller.actor.id };
  if (route.to === 'conversation') return { scope: 'conversation', scopeValue: route.id };
  const scope = body.scope ?? 'org';
  const value = body.scopeValue ?? '';
  return {
    scope,
    scopeValue: scope === 'repository' ? repositoryKey(value) : scope === 'conversation' ? value.toLowerCase() : value,
  };
}

const repositoryOrItself = (value: string): string => (URL.canParse(value) ? repositoryKey(value) : value);

function named(row: SecretRow): Record<string, unknown> {
  return {
    name: row.name,
    kind: row.kind,
    scope: row.scope,
    scopeValue: row.scope_value,
    ...(row.host === null ? {} : { host: row.host }),
  };
}

function invalid(path: string, message: string): SlipwayError {
  return new SlipwayError('request.invalid', `${path}: ${message}`, { fields: [{ path, message }] });
}

function toSecret(row: SecretRow): Secret {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    scope: row.scope,
    scopeValue: row.scope === 'org' ? null : row.scope_value,
    host: row.host,
    username: row.username,
    description: row.description,
    masked: row.masked,
    createdBy: { id: row.created_by, label: row.created_by_label },
    createdAt: row.created_at.toISOString(),
    updatedBy: { id: row.updated_by, label: row.updated_by_label },
    updatedAt: row.updated_at.toISOString(),
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
  };
}
