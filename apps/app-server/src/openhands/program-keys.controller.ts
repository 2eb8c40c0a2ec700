import { Controller, Header, Param } from '@nestjs/common';
import { MAX_LIVE_API_KEYS } from '@slipway/contracts/identity';
import {
  type CreatedProgramKey,
  type CreateProgramKey,
  type Done,
  type ProgramKeyList,
} from '@slipway/contracts/openhands';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { SlipwayError } from '@slipway/errors';
import { Body, Caller } from '../http/params.js';
import { Serves } from '../http/serves.js';
import { ApiKeysService } from '../identity/api-keys/api-keys.service.js';
import { programKeyOf } from './openhands-names.js';

/**
 * OpenHands' `/api/keys`. Its keys have no scopes: one that is made here may all that its maker may at that moment, and
 * never more than its owner may when it is used.
 */
@Controller()
export class ProgramKeysController {
  constructor(private readonly keys: ApiKeysService) {}

  @Serves(operations.listProgramKeys)
  async list(@Caller() caller: Principal): Promise<ProgramKeyList> {
    const pages = await Promise.all(
      (['active', 'pending'] as const).map((state) =>
        this.keys.list(caller, { all: 'false', limit: MAX_LIVE_API_KEYS, state }),
      ),
    );
    return pages
      .flatMap(({ data }) => data)
      .map(programKeyOf)
      .sort((a, b) => b.created_at.localeCompare(a.created_at))
      .slice(0, MAX_LIVE_API_KEYS);
  }

  @Serves(operations.createProgramKey)
  @Header('cache-control', 'no-store')
  async create(@Caller() caller: Principal, @Body() body: CreateProgramKey): Promise<CreatedProgramKey> {
    if (body.org_id != null && body.org_id !== caller.orgId) {
      const message = 'is not the organization that this request is about; name it by the header X-Org-Id';
      throw new SlipwayError('request.invalid', `org_id: ${message}`, { fields: [{ path: 'org_id', message }] });
    }
    const { token, ...key } = await this.keys.create(caller, {
      name: body.name,
      scopes: [...caller.permissions],
      ...(body.not_before == null ? {} : { notBefore: body.not_before }),
      ...(body.expires_at == null ? {} : { expiresAt: body.expires_at }),
    });
    return { ...programKeyOf(key), key: token };
  }

  @Serves(operations.revokeProgramKey)
  async revoke(@Caller() caller: Principal, @Param('key') key: string): Promise<Done> {
    await this.keys.revoke(caller, key);
    return { message: 'The key is revoked.' };
  }
}
