export { GiteaUnavailable, missingForGitea, prepareGitea } from './built-gitea.js';
export { GiteaRefusal } from './gitea-api.js';
export { prepareGiteaPages } from './gitea-pages.js';
export {
  type GiteaIssue,
  type GiteaPullRequest,
  GiteaRepository,
  type GiteaReview,
  type NewReview,
  type StatusState,
} from './gitea-repository.js';
export { GiteaServer, type StartGiteaOptions } from './gitea-server.js';
export { type GiteaAccount, type GiteaOAuth2Application, GiteaUser, type NewRepository } from './gitea-user.js';
export { giveConsent, takeBackConsents } from './give-consent.js';
export { type Gitea, startGitea } from './start-gitea.js';
