export { toPullRequest } from './pull-request-view.js';
export {
  findPullRequest,
  findRepositoryPlaces,
  listPullRequests,
  type PullRequestRow,
  type RepositoryPlace,
  type RequestedPublish,
  requestMerge,
  requestPublish,
} from './pull-requests.queries.js';
export { repositoryAt } from './repository-at.js';
