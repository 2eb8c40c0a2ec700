import { Controller, Get, Header } from '@nestjs/common';
import { IDENTITY_PATH } from '@slipway/contracts/credentials';
import { notFound } from '@slipway/errors';
import { AuthenticatesItself } from '../../http/serves.js';
import { WorkloadIdentityService } from './workload-identity.service.js';

/** How long others may keep what is answered here; a key is published for much longer before it signs. Seconds. */
const CACHE = 'public, max-age=300';

/** What others check tokens of conversations with. */
@Controller()
@AuthenticatesItself('nothing: public keys, and the addresses of these')
export class WorkloadIdentityController {
  constructor(private readonly identity: WorkloadIdentityService) {}

  @Get(`${IDENTITY_PATH}/.well-known/openid-configuration`)
  @Header('cache-control', CACHE)
  discovery(): unknown {
    if (!this.identity.isAvailable) throw notFound();
    return this.identity.discovery();
  }

  @Get(`${IDENTITY_PATH}/jwks`)
  @Header('cache-control', CACHE)
  async jwks(): Promise<unknown> {
    if (!this.identity.isAvailable) throw notFound();
    return this.identity.jwks();
  }
}
