import { Controller } from '@nestjs/common';
import type { SignedIn } from '@slipway/auth';
import { type Me, type ModelList, type Org, operations, type Principal } from '@slipway/contracts';
import { notFound } from '@slipway/errors';
import { Caller, Person } from '../http/params.js';
import { Serves } from '../http/serves.js';
import { MeService } from './me.service.js';
import { ModelsService } from './models.service.js';

@Controller()
export class MeController {
  constructor(
    private readonly people: MeService,
    private readonly models: ModelsService,
  ) {}

  @Serves(operations.me)
  me(@Person() person: SignedIn): Me {
    return this.people.of(person);
  }

  @Serves(operations.getOrg)
  org(@Person() person: SignedIn, @Caller() caller: Principal): Org {
    const org = person.orgs.find(({ id }) => id === caller.orgId);
    if (org === undefined) throw notFound();
    return org;
  }

  @Serves(operations.listModels)
  async listModels(): Promise<ModelList> {
    return { data: await this.models.list() };
  }
}
