import { Controller } from '@nestjs/common';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import {
  type ListBranchesQuery,
  type ListRepositoriesQuery,
  type RepositoryBranchPage,
  type RepositoryPage,
} from '@slipway/contracts/repositories';
import { Caller, Query } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { RepositoriesService } from './repositories.service.js';

@Controller()
export class RepositoriesController {
  constructor(private readonly repositories: RepositoriesService) {}

  @Serves(operations.listIntegrationRepositories)
  list(@Caller() caller: Principal, @Query() query: ListRepositoriesQuery): Promise<RepositoryPage> {
    return this.repositories.list(caller, query);
  }

  @Serves(operations.listIntegrationBranches)
  branches(@Caller() caller: Principal, @Query() query: ListBranchesQuery): Promise<RepositoryBranchPage> {
    return this.repositories.branches(caller, query);
  }
}
