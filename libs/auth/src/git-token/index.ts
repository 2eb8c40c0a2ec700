export { type GitClaims, GitTokens } from './git-token.js';
