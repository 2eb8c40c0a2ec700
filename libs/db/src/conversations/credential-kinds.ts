/**
 * Kinds of `app.integration_secret` that a connection's calls are made with. A connection has at most one of them;
 * where there are two for a moment, the newest counts.
 */
export const CREDENTIAL_KINDS = ['token', 'oauth-tokens', 'app-installation'] as const;
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];
