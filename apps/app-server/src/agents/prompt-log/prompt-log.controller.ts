import { Controller, Header, StreamableFile } from '@nestjs/common';
import { type PromptLogQuery } from '@slipway/contracts/models';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { Caller, Query } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { PromptLogService } from './prompt-log.service.js';

@Controller()
export class PromptLogController {
  constructor(private readonly prompts: PromptLogService) {}

  @Serves(operations.exportPrompts)
  @Header('cache-control', 'no-store')
  async export(@Caller() caller: Principal, @Query() query: PromptLogQuery): Promise<StreamableFile> {
    return new StreamableFile(await this.prompts.export(caller, query), {
      type: 'application/x-ndjson',
      disposition: `attachment; filename="prompts-${caller.orgId}.ndjson"`,
    });
  }
}
