import { Controller, Param } from '@nestjs/common';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import {
  type CreateOwnSecret,
  type CreateSecret,
  type ListSecretsQuery,
  type Secret,
  type SecretList,
  type SecretPage,
  type UpdateSecret,
} from '@slipway/contracts/secrets';
import { Body, Caller, Query } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { conversationId } from '../../log/events/conversation-id.js';
import { type SecretRoute, SecretsService } from './secrets.service.js';

const ORGANIZATION: SecretRoute = { to: 'organization' };
const USER: SecretRoute = { to: 'person' };
const conversation = (id: string): SecretRoute => ({ to: 'conversation', id: conversationId(id) });

@Controller()
export class SecretsController {
  constructor(private readonly secrets: SecretsService) {}

  @Serves(operations.listSecrets)
  list(@Caller() caller: Principal, @Query() query: ListSecretsQuery): Promise<SecretPage> {
    return this.secrets.page(caller, query);
  }

  @Serves(operations.createSecret)
  create(@Caller() caller: Principal, @Body() body: CreateSecret): Promise<Secret> {
    return this.secrets.create(caller, ORGANIZATION, body);
  }

  @Serves(operations.updateSecret)
  update(@Caller() caller: Principal, @Param('secret') id: string, @Body() body: UpdateSecret): Promise<Secret> {
    return this.secrets.update(caller, ORGANIZATION, id, body);
  }

  @Serves(operations.deleteSecret)
  delete(@Caller() caller: Principal, @Param('secret') id: string): Promise<void> {
    return this.secrets.delete(caller, ORGANIZATION, id);
  }

  @Serves(operations.listMySecrets)
  listMine(@Caller() caller: Principal): Promise<SecretList> {
    return this.secrets.own(caller, USER);
  }

  @Serves(operations.createMySecret)
  createMine(@Caller() caller: Principal, @Body() body: CreateOwnSecret): Promise<Secret> {
    return this.secrets.create(caller, USER, body);
  }

  @Serves(operations.updateMySecret)
  updateMine(@Caller() caller: Principal, @Param('secret') id: string, @Body() body: UpdateSecret): Promise<Secret> {
    return this.secrets.update(caller, USER, id, body);
  }

  @Serves(operations.deleteMySecret)
  deleteMine(@Caller() caller: Principal, @Param('secret') id: string): Promise<void> {
    return this.secrets.delete(caller, USER, id);
  }

  @Serves(operations.listConversationSecrets)
  listOfConversation(@Caller() caller: Principal, @Param('conversation') id: string): Promise<SecretList> {
    return this.secrets.own(caller, conversation(id));
  }

  @Serves(operations.createConversationSecret)
  createOfConversation(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Body() body: CreateOwnSecret,
  ): Promise<Secret> {
    return this.secrets.create(caller, conversation(id), body);
  }

  @Serves(operations.deleteConversationSecret)
  deleteOfConversation(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Param('secret') secret: string,
  ): Promise<void> {
    return this.secrets.delete(caller, conversation(id), secret);
  }
}
