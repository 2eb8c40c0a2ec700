import {
  ListBranchesQuery,
  ListRepositoriesQuery,
  RepositoryBranchPage,
  RepositoryPage,
} from '../repositories/repositories.js';
import type { Operation } from './operation.js';

const REPOSITORIES = '/api/v1/orgs/{org}/integrations/repositories';

/** What conversations can begin with. */
export const repositoryOperations = {
  listIntegrationRepositories: {
    id: 'integrations.repositories.list',
    method: 'GET',
    path: REPOSITORIES,
    summary: 'Repositories that the connections reach and the caller may read at the provider, by name',
    permission: 'conversation:create',
    status: 200,
    query: ListRepositoriesQuery,
    response: RepositoryPage,
    idempotency: 'idempotent',
    errors: [],
  },
  listIntegrationBranches: {
    id: 'integrations.repositories.branches',
    method: 'GET',
    path: `${REPOSITORIES}/branches`,
    summary: 'Branches of a repository that the caller may read at the provider',
    permission: 'conversation:create',
    status: 200,
    query: ListBranchesQuery,
    response: RepositoryBranchPage,
    idempotency: 'idempotent',
    errors: [
      'linked-account.needed',
      'repository.unknown',
      'repository.not-connected',
      'integration.provider-away',
      'integration.provider-refused',
    ],
  },
} as const satisfies Record<string, Operation>;
