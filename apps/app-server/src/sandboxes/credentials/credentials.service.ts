import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { REFERENCE_KEY_BYTES } from '@slipway/auth/credential-reference';
import { credentialContext, Envelope, secretContext } from '@slipway/auth/envelope';
import {
  type CreateCredential,
  type Credential,
  type CredentialPage,
  type ListCredentialsQuery,
  MAX_CREDENTIALS,
  problemOfValue,
  takesValue,
  type UpdateCredential,
  type WithheldSecrets,
} from '@slipway/contracts/credentials';
import { type Principal } from '@slipway/contracts/organizations';
import { repositoryKey } from '@slipway/contracts/secrets';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { readSecretCursor, writeSecretCursor } from '../../agents/secrets/secret-cursor.js';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';
import { assertPlaces } from './assert-places.js';
import {
  type CredentialRow,
  countCredentials,
  deleteCredential,
  deleteMovedSecret,
  findCredential,
  findMovedSecret,
  insertCredential,
  listCredentials,
  lockCredential,
  type MovedSecret,
  secretsGiven,
  updateCredential,
} from './credentials.queries.js';
import { problemOfKeys } from './problem-of-keys.js';

/** Secrets that a preview names; it counts the others. */
const MAX_NAMED = 200;
/** How often a change begins anew because another one came first. */
const ATTEMPTS = 3;

/**
 * Brokered credentials are taken in and listed by name; nothing here can show a value. Each change is in the audit,
 * with names and places and never values, and reaches credential-broker at its commit.
 */
@Injectable()
export class CredentialsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CONFIG) private readonly config: Config,
    private readonly envelope: Envelope,
  ) {}

  async page({ orgId }: Principal, { cursor, limit }: ListCredentialsQuery): Promise<CredentialPage> {
    const after = cursor === undefined ? null : readSecretCursor(cursor);
    const rows = await inOrg(this.pool, orgId, (client) => listCredentials(client, orgId, { after, limit: limit + 1 }));
    const data = rows.slice(0, limit).map(toCredential);
    const last = data.at(-1);
    return {
      data,
      page: { nextCursor: rows.length > limit && last !== undefined ? writeSecretCursor(last) : null },
      available: this.isAvailable,
    };
  }

  /** @throws SlipwayError `resource.not-found` */
  async get({ orgId }: Principal, id: string): Promise<Credential> {
    const row = await inOrg(this.pool, orgId, (client) => findCredential(client, orgId, id));
    if (row === null) throw notFound();
    return toCredential(row);
  }

  async preview({ orgId }: Principal): Promise<WithheldSecrets> {
    const { named, count, personal } = await inOrg(this.pool, orgId, (client) =>
      secretsGiven(client, orgId, MAX_NAMED),
    );
    return { data: [...named], count, personal };
  }

  /**
   * @throws SlipwayError `credential.unavailable`, `credential.place-refused`, `credential.name-taken`,
   * `credential.too-many`; of a secret whose value moves here `resource.not-found`, `permission.denied` without
   * `secret:write`, `secret.unreadable`, `request.invalid` for one that does not fit the form.
   */
  async create(caller: Principal, body: CreateCredential): Promise<Credential> {
    if (!this.isAvailable)
      throw new SlipwayError('credential.unavailable', 'No process of this installation could use it.');
    assertPlaces(body.use);
    const value = takesValue(body.use) ? body.value : '';
    const wrong = body.value === undefined ? null : problemOf(body.use, body.value);
    if (wrong !== null) throw invalid('value', wrong);
    if (value !== undefined) return this.again(() => this.insert(caller, body, value, null));
    // Who moves a secret deletes it.
    if (!caller.permissions.has('secret:write'))
      throw new SlipwayError('permission.denied', 'Moving a secret here needs the permission secret:write.');
    return this.again(async () => {
      const secret = await this.movedSecret(caller, body.fromSecret ?? '', body.use);
      return this.insert(caller, body, secret.value, secret);
    });
  }

  /** @throws SlipwayError `resource.not-found`, `credential.place-refused`, `request.invalid` for another value. */
  update(caller: Principal, id: string, change: UpdateCredential): Promise<Credential> {
    if (change.use !== undefined) assertPlaces(change.use);
    const { orgId } = caller;
    return this.again(async () => {
      const before = await inOrg(this.pool, orgId, (client) => findCredential(client, orgId, id));
      if (before === null) throw notFound();
      const use = change.use ?? before.use;
      const context = contextOf({ ...before, use });
      const value = change.value ?? (change.use !== undefined && !takesValue(use) ? '' : undefined);
      const wrong = change.value === undefined ? null : problemOf(use, change.value);
      if (wrong !== null) throw invalid('value', wrong);
      const sealed = value === undefined ? null : await this.envelope.seal(orgId, value, context);
      return inOrg(this.pool, orgId, async (client) => {
        const row = await lockCredential(client, orgId, id);
        if (row === null) throw notFound();
        // Sealed for places that it has no more.
        if (sealed !== null && change.use === undefined && contextOf(row) !== context) return null;
        const after = await updateCredential(client, orgId, id, {
          description: change.description ?? row.description,
          use: change.use ?? row.use,
          state: change.state ?? row.state,
          expiresAt: change.expiresAt === undefined ? (row.expires_at?.toISOString() ?? null) : change.expiresAt,
          value: sealed === null ? null : { sealed: sealed.bytes, keyVersion: sealed.keyVersion },
          by: caller.actor,
        });
        const changed = (['description', 'use', 'state', 'expires_at'] as const).filter(
          (field) => JSON.stringify(row[field]) !== JSON.stringify(after[field]),
        );
        await client.query(
          auditOf(this.ids.uuid(), caller, {
            action: 'credential.update',
            target: id,
            detail: { ...named(row), newValue: change.value !== undefined },
            before: Object.fromEntries(changed.map((field) => [field, row[field]])),
            after: Object.fromEntries(changed.map((field) => [field, after[field]])),
          }),
        );
        return after;
      });
    });
  }

  /** @throws SlipwayError `resource.not-found` */
  async delete(caller: Principal, id: string): Promise<void> {
    await inOrg(this.pool, caller.orgId, async (client) => {
      const row = await deleteCredential(client, caller.orgId, id);
      if (row === null) throw notFound();
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'credential.delete',
          target: id,
          detail: { ...named(row), use: row.use },
        }),
      );
    });
  }

  private get isAvailable(): boolean {
    return this.config.CREDENTIAL_CONTROL_SECRET !== undefined;
  }

  /** @returns `null` when the secret that its value came from has changed meanwhile. */
  private async insert(
    caller: Principal,
    { name, description, scope, scopeValue = '', use, expiresAt }: CreateCredential,
    value: string,
    from: MovedSecret | null,
  ): Promise<CredentialRow | null> {
    const { orgId, actor } = caller;
    const receiver = { scope, scopeValue: scope === 'repository' ? repositoryKey(scopeValue) : scopeValue };
    const id = this.ids.prefixed('crd');
    const sealed = await this.envelope.seal(orgId, value, credentialContext({ id, name, ...receiver, use }));
    return inOrg(this.pool, orgId, async (client) => {
      // Two at the same moment may both find the last place: the limit is there to bound, not to count.
      if ((await countCredentials(client, orgId)) >= MAX_CREDENTIALS)
        throw new SlipwayError('credential.too-many', `There are ${MAX_CREDENTIALS} credentials already.`);
      if (from !== null && !(await this.takeSecret(client, caller, from, id))) return null;
      const row = await insertCredential(client, orgId, {
        ...receiver,
        id,
        name,
        description,
        use,
        sealed: sealed.bytes,
        keyVersion: sealed.keyVersion,
        referenceKey: randomBytes(REFERENCE_KEY_BYTES),
        expiresAt,
        by: actor,
      });
      if (row === null)
        throw new SlipwayError('credential.name-taken', `There is a credential ${name} for the same conversations.`);
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'credential.create',
          target: id,
          detail: { ...named(row), use, ...(from === null ? {} : { fromSecret: from.name }) },
        }),
      );
      return row;
    });
  }

  /** Its value is in memory here for as long as the credential is made. */
  private async movedSecret(
    { orgId }: Principal,
    id: string,
    use: CreateCredential['use'],
  ): Promise<MovedSecret & { readonly value: string }> {
    const secret = await inOrg(this.pool, orgId, (client) => findMovedSecret(client, orgId, id));
    if (secret === null) throw notFound();
    const { sealed: bytes, keyVersion } = secret;
    const value = await this.envelope
      .open(orgId, { bytes, keyVersion }, secretContext(secret))
      .catch((error: unknown) => {
        throw new SlipwayError('secret.unreadable', `The secret ${secret.name} cannot be opened.`, { cause: error });
      });
    const wrong = problemOf(use, value);
    if (wrong !== null) throw invalid('fromSecret', `names a secret whose value does not fit: it ${wrong}`);
    return { ...secret, value };
  }

  private async takeSecret(client: PoolClient, caller: Principal, secret: MovedSecret, to: string): Promise<boolean> {
    if (!(await deleteMovedSecret(client, caller.orgId, secret))) return false;
    const { id, name, kind, scope, scopeValue } = secret;
    await client.query(
      auditOf(this.ids.uuid(), caller, {
        action: 'secret.delete',
        target: id,
        detail: { name, kind, scope, scopeValue, movedTo: to },
      }),
    );
    return true;
  }

  /** @param attempt answers `null` when another change came first. */
  private async again(attempt: () => Promise<CredentialRow | null>): Promise<Credential> {
    for (let left = ATTEMPTS; left > 0; left -= 1) {
      const row = await attempt();
      if (row !== null) return toCredential(row);
    }
    throw new SlipwayError('service.unavailable', 'It is being changed by others all the time.');
  }
}

const problemOf = (use: CreateCredential['use'], value: string): string | null =>
  problemOfValue(use, value) ?? problemOfKeys(use, value);

function invalid(path: string, message: string): SlipwayError {
  return new SlipwayError('request.invalid', `${path}: ${message}`, { fields: [{ path, message }] });
}

function contextOf({ id, name, scope, scope_value, use }: CredentialRow): string {
  return credentialContext({ id, name, scope, scopeValue: scope_value, use });
}

function named({ name, use: { form }, scope, scope_value }: CredentialRow): Record<string, unknown> {
  return { name, form, scope, scopeValue: scope_value };
}

function toCredential(row: CredentialRow): Credential {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    scope: row.scope,
    scopeValue: row.scope === 'org' ? null : row.scope_value,
    use: row.use,
    state: row.state,
    restingReason: row.state === 'resting' ? (row.resting_reason ?? 'reflected') : null,
    expiresAt: row.expires_at?.toISOString() ?? null,
    expired: row.expired,
    createdBy: { id: row.created_by, label: row.created_by_label },
    createdAt: row.created_at.toISOString(),
    updatedBy: { id: row.updated_by, label: row.updated_by_label },
    updatedAt: row.updated_at.toISOString(),
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
  };
}
