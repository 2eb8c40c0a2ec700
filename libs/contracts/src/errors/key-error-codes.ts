import type { ErrorRow } from './error-row.js';

/** Failures of API keys and service accounts. */
export const KEY_ERRORS = {
  'api-key.scope-too-wide': {
    status: 422,
    title: 'The key would have more permissions than you',
    retry: 'never',
    nextStep: 'Remove the scopes named in the detail, or ask someone who has them to create the key.',
  },
  'api-key.not-live': {
    status: 409,
    title: 'The key is revoked or expired',
    retry: 'never',
    nextStep: 'Create a new key.',
  },
  'api-key.limit': {
    status: 409,
    title: 'API key limit reached',
    retry: 'never',
    nextStep: 'Revoke keys that are no longer needed.',
  },
  'service-account.role-too-high': {
    status: 422,
    title: 'The service account would have a higher role than you',
    retry: 'never',
    nextStep: 'Choose a role no higher than yours, or ask someone with a higher role.',
  },
  'service-account.limit': {
    status: 409,
    title: 'Service account limit reached',
    retry: 'never',
    nextStep: 'Delete service accounts that are no longer needed.',
  },
} as const satisfies Record<string, ErrorRow>;
