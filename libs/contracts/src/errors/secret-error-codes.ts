import type { ErrorRow } from './error-row.js';

/** Failures of secrets, and of the credentials that organizations keep for credential-broker. */
export const SECRET_ERRORS = {
  'secret.name-taken': {
    status: 409,
    title: 'A secret with this name and scope already exists',
    retry: 'never',
    nextStep: 'Edit the existing secret, or choose another name.',
  },
  'secret.too-many': {
    status: 409,
    title: 'Secret limit reached',
    retry: 'never',
    nextStep: 'Delete one to add another.',
  },
  'secret.not-allowed': {
    status: 403,
    title: 'The organization does not allow personal secrets',
    retry: 'never',
    nextStep: 'Ask an admin to store the secret, or to allow personal secrets in the organization’s settings.',
  },
  'secret.unreadable': {
    status: 503,
    title: 'A secret cannot be decrypted',
    retry: 'later',
    nextStep:
      'An operator must check ENCRYPTION_KEY and ENCRYPTION_KEY_PREVIOUS of worker. Slipway retries automatically.',
  },
  'secret.too-large': {
    status: 422,
    title: 'The secrets of the conversation are too large',
    retry: 'never',
    nextStep: 'Delete secrets that it does not need, or limit them to fewer conversations.',
  },
  'credential.name-taken': {
    status: 409,
    title: 'A credential with this name and scope already exists',
    retry: 'never',
    nextStep: 'Edit the existing credential, or choose another name.',
  },
  'credential.too-many': {
    status: 409,
    title: 'Credential limit reached',
    retry: 'never',
    nextStep: 'Delete one to add another.',
  },
  'credential.unavailable': {
    status: 409,
    title: 'This installation has no credential broker',
    retry: 'never',
    nextStep: 'An operator must set CREDENTIAL_CONTROL_SECRET and run credential-broker. Store a secret until then.',
  },
  'credential.changed': {
    status: 409,
    title: 'The credential has changed since this was asked',
    retry: 'never',
    nextStep: 'Reload the conversation. The agent asks again by the places that hold now.',
  },
  'credential.place-refused': {
    status: 422,
    title: 'A credential cannot be used at this host',
    retry: 'never',
    nextStep: 'Name a host on the internet that belongs to one owner, such as api.example.com.',
  },
} as const satisfies Record<string, ErrorRow>;
