export { freePort, type PostgresServer, startPostgresServer } from '@slipway/db/embedded';
export { BareRepository } from './bare-repository.js';
export { ConversationWatcher } from './conversation-watcher.js';
export { CookieClient } from './cookie-client.js';
export { type GitServer, runGitBackend, startGitServer } from './git-server.js';
export { type IdentityServer, startIdentityServer } from './identity-server.js';
export {
  type BilledCall,
  type BilledModel,
  type BilledTurn,
  type BillingServer,
  startBillingServer,
  type Work,
} from './model-server/model-bill.js';
export {
  byAnswersSoFar,
  type ModelFault,
  type ModelRequest,
  type ModelScript,
  type ModelTurn,
  type ScriptedAnswer,
  type ScriptedToolCall,
  textOfMessage,
} from './model-server/model-script.js';
export { type ModelServer, type ModelServerOptions, startModelServer } from './model-server/model-server.js';
export { oneTimeCode } from './one-time-code.js';
export { type PosthogAnswer, PosthogServer, type ReceivedEvent } from './posthog-server.js';
export { type RedisServer, startRedisServer } from './redis-server.js';
export { createSampleRepository } from './sample-repository.js';
export { type SeededOrg, type SeededUser, seedTwoOrgs, type TwoOrgs } from './scenarios/two-orgs.js';
export { type SignedInClient, signIn, submitForm } from './sign-in.js';
export { SigningIssuer, type SigningUser } from './signing-issuer.js';
export { SilentProxy } from './silent-proxy.js';
export { SlowLine } from './slow-line.js';
export { type Lasted, lasting, stopwatch } from './stopwatch.js';
export { createTestDatabase, type TestDatabase } from './test-database.js';
export { until } from './until.js';
