import { Controller, Param } from '@nestjs/common';
import {
  type ConnectionWithSecret,
  type CreateIntegrationConnection,
  type DeliveryDryRun,
  type IntegrationConnection,
  type IntegrationConnectionList,
  type IntegrationDelivery,
  type IntegrationDeliveryContent,
  type IntegrationDeliveryPage,
  type IntegrationProviderList,
  type ListDeliveriesQuery,
  type RotateWebhookSecret,
  type UpdateIntegrationConnection,
} from '@slipway/contracts/integrations';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { Body, Caller, Query } from '../http/params.js';
import { Serves } from '../http/serves.js';
import { ConnectionsService } from './connections.service.js';
import { DeliveriesService } from './deliveries.service.js';

@Controller()
export class IntegrationsController {
  constructor(
    private readonly connections: ConnectionsService,
    private readonly deliveries: DeliveriesService,
  ) {}

  @Serves(operations.listIntegrationProviders)
  listProviders(): IntegrationProviderList {
    return this.connections.listProviders();
  }

  @Serves(operations.listIntegrationConnections)
  list(@Caller() caller: Principal): Promise<IntegrationConnectionList> {
    return this.connections.list(caller);
  }

  @Serves(operations.createIntegrationConnection)
  create(@Caller() caller: Principal, @Body() body: CreateIntegrationConnection): Promise<ConnectionWithSecret> {
    return this.connections.create(caller, body);
  }

  @Serves(operations.getIntegrationConnection)
  get(@Caller() caller: Principal, @Param('connection') id: string): Promise<IntegrationConnection> {
    return this.connections.get(caller, id);
  }

  @Serves(operations.updateIntegrationConnection)
  update(
    @Caller() caller: Principal,
    @Param('connection') id: string,
    @Body() body: UpdateIntegrationConnection,
  ): Promise<IntegrationConnection> {
    return this.connections.update(caller, id, body);
  }

  @Serves(operations.deleteIntegrationConnection)
  delete(@Caller() caller: Principal, @Param('connection') id: string): Promise<void> {
    return this.connections.delete(caller, id);
  }

  @Serves(operations.rotateWebhookSecret)
  rotateSecret(
    @Caller() caller: Principal,
    @Param('connection') id: string,
    @Body() body: RotateWebhookSecret,
  ): Promise<ConnectionWithSecret> {
    return this.connections.rotateSecret(caller, id, body);
  }

  @Serves(operations.listIntegrationDeliveries)
  listDeliveries(
    @Caller() caller: Principal,
    @Param('connection') id: string,
    @Query() query: ListDeliveriesQuery,
  ): Promise<IntegrationDeliveryPage> {
    return this.deliveries.page(caller, id, query);
  }

  @Serves(operations.getIntegrationDelivery)
  getDelivery(
    @Caller() caller: Principal,
    @Param('connection') id: string,
    @Param('delivery') delivery: string,
  ): Promise<IntegrationDeliveryContent> {
    return this.deliveries.get(caller, id, delivery);
  }

  @Serves(operations.redeliverIntegrationDelivery)
  redeliver(
    @Caller() caller: Principal,
    @Param('connection') id: string,
    @Param('delivery') delivery: string,
  ): Promise<IntegrationDelivery> {
    return this.deliveries.redeliver(caller, id, delivery);
  }

  @Serves(operations.dryRunIntegrationDelivery)
  dryRun(
    @Caller() caller: Principal,
    @Param('connection') id: string,
    @Param('delivery') delivery: string,
  ): Promise<DeliveryDryRun> {
    return this.deliveries.dryRun(caller, id, delivery);
  }
}
