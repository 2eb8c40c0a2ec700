import { type DynamicModule, Module } from '@nestjs/common';
import { DomainsController } from './domains.controller.js';
import { DomainsService } from './domains.service.js';
import { TxtLookup } from './txt-lookup.js';

@Module({})
export class DomainsModule {
  /** @param nameServers `address:port` each, to ask instead of the machine's own. */
  static register(nameServers?: readonly string[]): DynamicModule {
    return {
      module: DomainsModule,
      controllers: [DomainsController],
      providers: [DomainsService, { provide: TxtLookup, useValue: new TxtLookup(nameServers) }],
    };
  }
}
