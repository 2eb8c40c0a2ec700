import { Controller, Param } from '@nestjs/common';
import type {
  CreatePrompt,
  ListPromptsQuery,
  Prompt,
  PromptPage,
  UpdatePrompt,
} from '@slipway/contracts/conversations';
import { operations } from '@slipway/contracts/operations';
import type { Principal } from '@slipway/contracts/organizations';
import { Body, Caller, Query } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { PromptsService } from './prompts.service.js';

@Controller()
export class PromptsController {
  constructor(private readonly prompts: PromptsService) {}

  @Serves(operations.listPrompts)
  list(@Caller() caller: Principal, @Query() query: ListPromptsQuery): Promise<PromptPage> {
    return this.prompts.page(caller, query);
  }

  @Serves(operations.createPrompt)
  create(@Caller() caller: Principal, @Body() body: CreatePrompt): Promise<Prompt> {
    return this.prompts.create(caller, body);
  }

  @Serves(operations.updatePrompt)
  update(@Caller() caller: Principal, @Param('prompt') id: string, @Body() body: UpdatePrompt): Promise<Prompt> {
    return this.prompts.update(caller, id, body);
  }

  @Serves(operations.deletePrompt)
  delete(@Caller() caller: Principal, @Param('prompt') id: string): Promise<void> {
    return this.prompts.delete(caller, id);
  }
}
