import { Controller } from '@nestjs/common';
import { operations, type Principal, type SuggestedTasks } from '@slipway/contracts';
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
