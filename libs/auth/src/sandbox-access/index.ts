export { SANDBOX_TOKEN_PREFIX, SANDBOX_TOKEN_SECONDS, SandboxTokens, type VerifiedToken } from './sandbox-token.js';
