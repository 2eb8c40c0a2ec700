import { Controller, Header, Param } from '@nestjs/common';
import {
  type ApiKey,
  type ChangeApiKey,
  type CreateApiKey,
  type CreatedApiKey,
  type ListApiKeysQuery,
  type RotateApiKey,
} from '@slipway/contracts/identity';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { Body, Caller, Query } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { ApiKeysService } from './api-keys.service.js';

@Controller()
export class ApiKeysController {
  constructor(private readonly keys: ApiKeysService) {}

  @Serves(operations.listApiKeys)
  list(
    @Caller() caller: Principal,
    @Query() query: ListApiKeysQuery,
  ): Promise<{ data: ApiKey[]; page: { nextCursor: string | null } }> {
    return this.keys.list(caller, query);
  }

  @Serves(operations.createApiKey)
  @Header('cache-control', 'no-store')
  create(@Caller() caller: Principal, @Body() body: CreateApiKey): Promise<CreatedApiKey> {
    return this.keys.create(caller, body);
  }

  @Serves(operations.getApiKey)
  get(@Caller() caller: Principal, @Param('key') key: string): Promise<ApiKey> {
    return this.keys.get(caller, key);
  }

  @Serves(operations.changeApiKey)
  change(@Caller() caller: Principal, @Param('key') key: string, @Body() body: ChangeApiKey): Promise<ApiKey> {
    return this.keys.rename(caller, key, body.name);
  }

  @Serves(operations.revokeApiKey)
  revoke(@Caller() caller: Principal, @Param('key') key: string): Promise<void> {
    return this.keys.revoke(caller, key);
  }

  @Serves(operations.rotateApiKey)
  @Header('cache-control', 'no-store')
  rotate(@Caller() caller: Principal, @Param('key') key: string, @Body() body: RotateApiKey): Promise<CreatedApiKey> {
    return this.keys.rotate(caller, key, body.overlapSeconds);
  }
}
