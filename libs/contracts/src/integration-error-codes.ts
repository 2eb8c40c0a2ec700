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
