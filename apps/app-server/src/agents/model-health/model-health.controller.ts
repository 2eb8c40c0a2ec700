import { Controller, Param } from '@nestjs/common';
import { type ModelDeploymentList, type ModelDeploymentTest } from '@slipway/contracts/models';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { Caller } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { ModelHealthService } from './model-health.service.js';

@Controller()
export class ModelHealthController {
  constructor(private readonly health: ModelHealthService) {}

  @Serves(operations.listModelDeployments)
  list(): Promise<ModelDeploymentList> {
    return this.health.list();
  }

  @Serves(operations.testModelDeployment)
  test(@Caller() caller: Principal, @Param('deployment') id: string): Promise<ModelDeploymentTest> {
    return this.health.test(caller, id);
  }
}
