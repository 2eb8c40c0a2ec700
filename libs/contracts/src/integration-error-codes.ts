import type { ErrorRow } from './error-codes.js';

/** Failures of connections to providers, of what they deliver and of what is asked of them. */
export const INTEGRATION_ERRORS = {
  'integration.too-many': {
    status: 409,
    title: 'The organization has as many connections as it can have',
    retry: 'never',
    nextStep: 'Delete a connection that is not needed any more.',
  },
  'integration.no-secret': {
    status: 409,
    title: 'Deliveries of this connection are signed for the platform as a whole',
    retry: 'never',
    nextStep: 'An operator replaces the secret of the platform’s app (INTEGRATION_APP_SECRETS).',
  },
  'integration.oauth-unsupported': {
    status: 409,
    title: 'Accounts of this provider cannot be linked yet',
    retry: 'never',
    nextStep: 'Link an account of GitHub, GitLab or Gitea.',
  },
  'integration.no-oauth-client': {
    status: 409,
    title: 'The connection has no OAuth client',
    retry: 'never',
    nextStep: 'An admin enters client id and secret on the page of the connection.',
  },
  'integration.provider-away': {
    status: 503,
    title: 'The provider does not answer',
    retry: 'later',
    nextStep: 'Wait a moment and try again; if it stays, look at the state of the provider.',
  },
  'integration.provider-refused': {
    status: 502,
    title: 'The provider refuses what Slipway asks',
    retry: 'never',
    nextStep: 'An admin checks access token and OAuth client of the connection.',
  },
  'linked-account.refused': {
    status: 400,
    title: 'The link was not begun in this browser, or it is over',
    retry: 'never',
    nextStep: 'Begin again under Settings, Linked accounts, and finish within ten minutes.',
  },
  'linked-account.declined': {
    status: 400,
    title: 'The provider did not let you link the account',
    retry: 'never',
    nextStep: 'Begin again and allow Slipway to read who you are.',
  },
  'linked-account.taken': {
    status: 409,
    title: 'The account is linked with another user',
    retry: 'never',
    nextStep: 'Unlink it there first, or sign in to the provider with another account.',
  },
  'linked-account.exists': {
    status: 409,
    title: 'You have linked another account of this host',
    retry: 'never',
    nextStep: 'Unlink that one first.',
  },
  'linked-account.needed': {
    status: 409,
    title: 'You have no linked account at this provider',
    retry: 'never',
    nextStep: 'Link your account under Settings, Linked accounts.',
  },
  'repository.not-connected': {
    status: 409,
    title: 'No connection reaches repositories there',
    retry: 'never',
    nextStep: 'An admin connects the provider and enters an access token; or give the URL of the repository.',
  },
  'repository.unknown': {
    status: 422,
    title: 'There is no such repository, or you may not read it',
    retry: 'never',
    nextStep: 'Check owner and name, and that your linked account may read it at the provider.',
  },
  'repository.ambiguous': {
    status: 422,
    title: 'More than one host has a repository of this name',
    retry: 'never',
    nextStep: 'Give the URL of the repository.',
  },
  'delivery.refused': {
    status: 401,
    title: 'The delivery is not believed',
    retry: 'never',
    nextStep: 'Compare address and webhook secret at the provider with those of the connection.',
  },
  'delivery.wrong-type': {
    status: 415,
    title: 'The delivery has another content type',
    retry: 'never',
    nextStep: 'Have the provider send application/json, without a content encoding.',
  },
  'delivery.too-slow': {
    status: 408,
    title: 'The delivery did not come in time',
    retry: 'later',
    nextStep: 'Have the provider deliver it again.',
  },
} as const satisfies Record<string, ErrorRow>;
