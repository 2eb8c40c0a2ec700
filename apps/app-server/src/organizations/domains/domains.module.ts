import { type DynamicModule, Module } from '@nestjs/common';
import { DomainChecks } from './domain-checks.js';
import { DomainJoin } from './domain-join.js';
import { DomainsController } from './domains.controller.js';
import { DomainsService } from './domains.service.js';
import { TxtLookup } from './txt-lookup.js';

@Module({})
export class DomainsModule {
  /** @param nameServers `address:port` each, to ask instead of the machine's own. */
  static register(nameServers?: readonly string[]): DynamicModule {
    return {
      module: DomainsModule,
      global: true,
      controllers: [DomainsController],
      providers: [
        DomainsService,
        DomainChecks,
        DomainJoin,
        { provide: TxtLookup, useValue: new TxtLookup(nameServers) },
      ],
      // Sign-ins join by domains.
      exports: [DomainJoin],
    };
  }
}
