import { Controller, Param } from '@nestjs/common';
import {
  type CreateLlmProfile,
  type LlmProfile,
  type LlmProfileList,
  type UpdateLlmProfile,
} from '@slipway/contracts/models';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { Body, Caller } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { LlmProfilesService } from './llm-profiles.service.js';

@Controller()
export class LlmProfilesController {
  constructor(private readonly profiles: LlmProfilesService) {}

  @Serves(operations.listLlmProfiles)
  list(@Caller() caller: Principal): Promise<LlmProfileList> {
    return this.profiles.list(caller);
  }

  @Serves(operations.createLlmProfile)
  create(@Caller() caller: Principal, @Body() body: CreateLlmProfile): Promise<LlmProfile> {
    return this.profiles.create(caller, body);
  }

  @Serves(operations.updateLlmProfile)
  update(
    @Caller() caller: Principal,
    @Param('profile') id: string,
    @Body() body: UpdateLlmProfile,
  ): Promise<LlmProfile> {
    return this.profiles.update(caller, id, body);
  }

  @Serves(operations.deleteLlmProfile)
  delete(@Caller() caller: Principal, @Param('profile') id: string): Promise<void> {
    return this.profiles.delete(caller, id);
  }
}
