import { Controller, Param } from '@nestjs/common';
import {
  type CreateCredential,
  type Credential,
  type CredentialPage,
  type CredentialUses,
  type ListCredentialsQuery,
  type UpdateCredential,
  type WithheldSecrets,
} from '@slipway/contracts/credentials';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { Body, Caller, Query } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { CredentialsService } from './credentials.service.js';
import { UseTalliesService } from './use-tallies.service.js';

@Controller()
export class CredentialsController {
  constructor(
    private readonly credentials: CredentialsService,
    private readonly tallies: UseTalliesService,
  ) {}

  @Serves(operations.listCredentials)
  list(@Caller() caller: Principal, @Query() query: ListCredentialsQuery): Promise<CredentialPage> {
    return this.credentials.page(caller, query);
  }

  @Serves(operations.createCredential)
  create(@Caller() caller: Principal, @Body() body: CreateCredential): Promise<Credential> {
    return this.credentials.create(caller, body);
  }

  @Serves(operations.previewBrokeredOnly)
  preview(@Caller() caller: Principal): Promise<WithheldSecrets> {
    return this.credentials.preview(caller);
  }

  @Serves(operations.getCredential)
  get(@Caller() caller: Principal, @Param('credential') id: string): Promise<Credential> {
    return this.credentials.get(caller, id);
  }

  @Serves(operations.getCredentialUses)
  uses(@Caller() caller: Principal, @Param('credential') id: string): Promise<CredentialUses> {
    return this.tallies.read(caller, id);
  }

  @Serves(operations.updateCredential)
  update(
    @Caller() caller: Principal,
    @Param('credential') id: string,
    @Body() body: UpdateCredential,
  ): Promise<Credential> {
    return this.credentials.update(caller, id, body);
  }

  @Serves(operations.deleteCredential)
  delete(@Caller() caller: Principal, @Param('credential') id: string): Promise<void> {
    return this.credentials.delete(caller, id);
  }
}
