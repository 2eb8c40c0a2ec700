export { toPullRequest } from './pull-request-view.js';
export {
  findPullRequest,
  findRepositoryPlaces,
  listPullRequests,
  type PullRequestRow,
  type RepositoryPlace,
  type RequestedFix,
  type RequestedPublish,
  requestFix,
  requestMerge,
  requestPublish,
  type SentFix,
} from './pull-requests.queries.js';
export { repositoryAt } from './repository-at.js';
