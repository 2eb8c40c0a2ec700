import { Controller, Headers, Res } from '@nestjs/common';
import { operations } from '@slipway/contracts/operations';
import { type OrgSettings, type Principal, type UpdateOrgSettings } from '@slipway/contracts/organizations';
import type { FastifyReply } from 'fastify';
import { Body, Caller } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { OrgSettingsService } from './org-settings.service.js';

@Controller()
export class OrgSettingsController {
  constructor(private readonly settings: OrgSettingsService) {}

  @Serves(operations.getOrgSettings)
  async get(@Caller() caller: Principal, @Res({ passthrough: true }) reply: FastifyReply): Promise<OrgSettings> {
    return versioned(await this.settings.get(caller), reply);
  }

  @Serves(operations.updateOrgSettings)
  async update(
    @Caller() caller: Principal,
    @Body() change: UpdateOrgSettings,
    @Headers('if-match') ifMatch: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OrgSettings> {
    return versioned(await this.settings.update(caller, change, ifMatch), reply);
  }
}

function versioned(settings: OrgSettings, reply: FastifyReply): OrgSettings {
  void reply.header('etag', `"${settings.version}"`);
  return settings;
}
