import { Controller } from '@nestjs/common';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { type SuggestedTasks } from '@slipway/contracts/repositories';
import { Caller } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { SuggestedTasksService } from './suggested-tasks.service.js';

@Controller()
export class SuggestedTasksController {
  constructor(private readonly tasks: SuggestedTasksService) {}

  @Serves(operations.listSuggestedTasks)
  list(@Caller() caller: Principal): Promise<SuggestedTasks> {
    return this.tasks.list(caller);
  }
}
