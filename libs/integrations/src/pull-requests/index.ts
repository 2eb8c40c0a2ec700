export {
  findPullRequest,
  findRepositoryPlaces,
  listPullRequests,
  type PullRequestRow,
  type RequestedPublish,
  type RepositoryPlace,
  requestMerge,
  requestPublish,
} from './pull-requests.queries.js';
export { toPullRequest } from './pull-request-view.js';
export { repositoryAt } from './repository-at.js';
