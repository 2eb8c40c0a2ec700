import { Inject, Injectable } from '@nestjs/common';
import { Envelope, llmKeyContext } from '@slipway/auth/envelope';
import {
  type CreateLlmProfile,
  type LlmProfile,
  type LlmProfileList,
  MAX_LLM_PROFILES,
  type UpdateLlmProfile,
} from '@slipway/contracts/models';
import { type Principal } from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { assertOutside } from '@slipway/outside';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';
import {
  deleteProfile,
  insertProfile,
  type LlmProfileRow,
  listProfiles,
  lockProfile,
  type ProfileValues,
  type SealedKey,
  unsetDefault,
  updateProfile,
} from './llm-profiles.queries.js';

/**
 * Models with their address, key and manner; worker gives them to conversations. A key is sealed for the address that
 * it was given for.
 */
@Injectable()
export class LlmProfilesService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CONFIG) private readonly config: Config,
    private readonly envelope: Envelope,
  ) {}

  async list(caller: Principal): Promise<LlmProfileList> {
    return {
      data: (await inOrg(this.pool, caller.orgId, (client) => listProfiles(client, caller.orgId))).map(toProfile),
    };
  }

  /** @throws SlipwayError `settings.url-refused`, `settings.name-taken`, `settings.too-many` */
  async create(caller: Principal, body: CreateLlmProfile): Promise<LlmProfile> {
    await this.assertUrl(body.baseUrl);
    const { apiKey, ...rest } = body;
    const values: ProfileValues = { ...rest, id: this.ids.prefixed('llm') };
    const key = apiKey === null ? null : await this.sealed(caller, values, apiKey);
    return inOrg(this.pool, caller.orgId, async (client) => {
      if ((await listProfiles(client, caller.orgId)).length >= MAX_LLM_PROFILES)
        throw new SlipwayError('settings.too-many', `There are ${MAX_LLM_PROFILES} profiles already.`);
      if (values.default) await unsetDefault(client, caller.orgId, values.id);
      const row = await insertProfile(client, caller.orgId, { values, key, by: caller.actor });
      if (row === null) throw nameTaken(values.name);
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'llm-profile.create', target: row.id, after: auditedOf(row) }),
      );
      return toProfile(row);
    });
  }

  /**
   * @throws SlipwayError `resource.not-found`, `settings.url-refused`, `settings.name-taken`; `request.invalid` when
   * the address changes and a key that is there is not given again.
   */
  async update(caller: Principal, id: string, change: UpdateLlmProfile): Promise<LlmProfile> {
    if (change.baseUrl !== undefined) await this.assertUrl(change.baseUrl);
    const found = await inOrg(this.pool, caller.orgId, (client) => lockProfile(client, caller.orgId, id));
    if (found === null) throw notFound();
    const { apiKey } = change;
    const baseUrl = change.baseUrl === undefined ? found.base_url : change.baseUrl;
    const key = apiKey === undefined || apiKey === null ? apiKey : await this.sealed(caller, { id, baseUrl }, apiKey);
    return inOrg(this.pool, caller.orgId, async (client) => {
      const before = await lockProfile(client, caller.orgId, id);
      if (before === null) throw notFound();
      if (before.base_url !== found.base_url)
        throw new SlipwayError('settings.name-taken', 'The profile was changed by another user; read it again.');
      if (baseUrl !== before.base_url && before.has_key && key === undefined)
        throw new SlipwayError('request.invalid', 'apiKey: is needed again for another baseUrl', {
          fields: [{ path: 'apiKey', message: 'is needed again for another baseUrl' }],
        });
      const values: ProfileValues = {
        id,
        name: change.name ?? before.name,
        model: change.model ?? before.model,
        baseUrl,
        temperature: change.temperature === undefined ? before.temperature : change.temperature,
        maxOutputTokens: change.maxOutputTokens === undefined ? before.max_output_tokens : change.maxOutputTokens,
        default: change.default ?? before.is_default,
      };
      if (values.default) await unsetDefault(client, caller.orgId, id);
      const after = await updateProfile(client, caller.orgId, values, key);
      if (after === null) throw nameTaken(values.name);
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'llm-profile.update',
          target: id,
          detail: { newKey: key !== undefined && key !== null },
          before: auditedOf(before),
          after: auditedOf(after),
        }),
      );
      return toProfile(after);
    });
  }

  /** @throws SlipwayError `resource.not-found` */
  async delete(caller: Principal, id: string): Promise<void> {
    await inOrg(this.pool, caller.orgId, async (client) => {
      const row = await lockProfile(client, caller.orgId, id);
      if (row === null) throw notFound();
      await deleteProfile(client, caller.orgId, id);
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'llm-profile.delete', target: id, before: auditedOf(row) }),
      );
    });
  }

  private async assertUrl(baseUrl: string | null): Promise<void> {
    if (baseUrl !== null) await assertOutside(baseUrl, this.config.ALLOW_PRIVATE_URLS);
  }

  private sealed(
    caller: Principal,
    profile: { id: string; baseUrl: string | null },
    apiKey: string,
  ): Promise<SealedKey> {
    return this.envelope.seal(caller.orgId, apiKey, llmKeyContext(profile));
  }
}

const nameTaken = (name: string): SlipwayError =>
  new SlipwayError('settings.name-taken', `There is a profile ${JSON.stringify(name)}.`);

function auditedOf(row: LlmProfileRow): Record<string, unknown> {
  return { name: row.name, model: row.model, baseUrl: row.base_url, default: row.is_default, hasApiKey: row.has_key };
}

function toProfile(row: LlmProfileRow): LlmProfile {
  return {
    id: row.id,
    name: row.name,
    model: row.model,
    baseUrl: row.base_url,
    temperature: row.temperature,
    maxOutputTokens: row.max_output_tokens,
    default: row.is_default,
    hasApiKey: row.has_key,
    createdBy: { id: row.created_by, label: row.created_by_label },
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
