export { SANDBOX_TOKEN_PREFIX, SANDBOX_TOKEN_SECONDS, SandboxTokens } from './sandbox-token.js';
