export { harmlessMarkdown, withoutCommands } from './answers/quoted-markdown.js';
export type {
  Answer,
  AnswerAccess,
  AnswerState,
  Asked,
  ReplyAnswers,
  ThreadAnswers,
  ThreadLink,
  TicketStage,
} from './answers/thread-answers.js';
export { type WaitingActions, waitingActions } from './answers/waiting-actions.js';
export type { AppHookState, AppHooks } from './app-hooks/app-hooks.js';
export type {
  AppAccess,
  AppStep,
  GitAccount,
  HookDeliveries,
  HookDelivery,
  Installation,
  NewApp,
  OwnershipProof,
  RegisteredApp,
  Registration,
  RegistrationForm,
} from './apps/app-access.js';
export { type AskedToken, InstallationTokens } from './apps/installation-tokens.js';
export { baseUrlOf, deliveriesUrl, isAtHost } from './base-url.js';
export type {
  Bounded,
  CheckLog,
  CodeHost,
  CommitCheck,
  CommitSpan,
  CommitStatus,
  FolderAt,
  HostCommit,
  HostTree,
  NewPullRequest,
  OwnWork,
  OwnWorkList,
  PageOf,
  Permission,
  Place,
  PullRequestState,
  ReactionTarget,
  RepositoryHistory,
  RepositoryListing,
  Review,
  Written,
} from './calls/code-host.js';
export { GitRemote, type GitRemoteOptions, type Push } from './calls/git-remote.js';
export { type Dispatch, type Outgoing, ProviderClient, type ProviderClientOptions } from './calls/provider-client.js';
export { ProviderRefusal, type RefusalKind } from './calls/provider-refusal.js';
export type { HookHealth, HookSettings, MadeHook, RepositoryHooks } from './calls/repository-hooks.js';
export type { RightsAccess } from './calls/rights-access.js';
export type { SocketAccess, SocketFrame } from './calls/socket-access.js';
export type { Said, ThreadReading, ThreadSaid } from './calls/thread-reading.js';
export { type Delivery, headerOf, type ReadDelivery } from './delivery.js';
export type {
  Actor,
  Ignored,
  Intent,
  Lifecycle,
  Outcome,
  Passage,
  Press,
  PullRequestRef,
  Reading,
  RepositoryRef,
  ReviewPlace,
  Thread,
  TriggerKind,
} from './intent.js';
export {
  type Account,
  type AccountLinking,
  authorizeUrl,
  type Connect,
  type OAuthApp,
} from './linking/account-linking.js';
export type { Approval } from './linking/approval.js';
export { type Redeemed, redeemForAccount } from './linking/redeem.js';
export { maskedText } from './prompt/masked-text.js';
export {
  AUTHORITIES,
  type Authority,
  type Prompt,
  type PromptInput,
  promptOf,
  type ThreadPassage,
} from './prompt/prompt.js';
export { type Hidden, type ShownText, shownText } from './prompt/shown-text.js';
export {
  type CodeHostAccess,
  type EnteredTokens,
  NO_REPOSITORY,
  type OwnIdentity,
  type Provider,
  type ReadingContext,
  type RepositoryChoice,
  type TenantOfBody,
  type ThreadSubject,
  type TokenFacts,
} from './provider.js';
export { PROVIDERS, type ProviderId } from './providers/index.js';
export { isOurText } from './reading/reading.js';
export type { SignatureRefusal, SignatureScheme, SignedTime } from './signatures/scheme.js';
export { standardHeaders } from './signatures/standard-headers.js';
export { signedTimeRefusal, verifySignature } from './signatures/verify.js';
