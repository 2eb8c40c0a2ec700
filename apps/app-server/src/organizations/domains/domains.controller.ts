import { Controller, Param } from '@nestjs/common';
import { operations } from '@slipway/contracts/operations';
import {
  type ClaimDomain,
  type OrgDomain,
  type OrgDomainList,
  type Principal,
  type UpdateDomain,
} from '@slipway/contracts/organizations';
import { Body, Caller } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { DomainsService } from './domains.service.js';

@Controller()
export class DomainsController {
  constructor(private readonly domains: DomainsService) {}

  @Serves(operations.listDomains)
  list(@Caller() caller: Principal): Promise<OrgDomainList> {
    return this.domains.list(caller);
  }

  @Serves(operations.claimDomain)
  claim(@Caller() caller: Principal, @Body() body: ClaimDomain): Promise<OrgDomain> {
    return this.domains.claim(caller, body.domain);
  }

  @Serves(operations.verifyDomain)
  verify(@Caller() caller: Principal, @Param('domain') domain: string): Promise<OrgDomain> {
    return this.domains.verify(caller, domain);
  }

  @Serves(operations.updateDomain)
  update(@Caller() caller: Principal, @Param('domain') domain: string, @Body() body: UpdateDomain): Promise<OrgDomain> {
    return this.domains.update(caller, domain, body);
  }

  @Serves(operations.releaseDomain)
  release(@Caller() caller: Principal, @Param('domain') domain: string): Promise<void> {
    return this.domains.release(caller, domain);
  }
}
