import type { ErrorRow } from './error-row.js';

/** Failures of sign-in, of accounts and of sessions. */
export const IDENTITY_ERRORS = {
  'auth.missing': { status: 401, title: 'Sign in or send an API key', retry: 'never', nextStep: 'Sign in again.' },
  'auth.unavailable': {
    status: 503,
    title: 'The sign-in service does not answer',
    retry: 'later',
    nextStep: 'Wait a moment and try again. Users who are already signed in are not affected.',
  },
  'auth.sign-in-failed': {
    status: 400,
    title: 'The sign-in did not complete',
    retry: 'never',
    nextStep: 'Start the sign-in again.',
  },
  'account.email-unverified': {
    status: 403,
    title: 'Your email address is not verified',
    retry: 'never',
    nextStep: 'Open the link in the email we sent, or send it again. Then sign in again.',
  },
  'account.terms-required': {
    status: 403,
    title: 'The terms of service have not been accepted',
    retry: 'never',
    nextStep: 'Read and accept the terms of service of this installation.',
  },
  'account.deactivated': {
    status: 403,
    title: 'Your account is deactivated',
    retry: 'never',
    nextStep: 'Ask an admin of your organization.',
  },
  'account.terms-changed': {
    status: 409,
    title: 'The terms of service have changed',
    retry: 'never',
    nextStep: 'Read and accept the current version.',
  },
  'auth.session-needed': {
    status: 403,
    title: 'This requires a signed-in user',
    retry: 'never',
    nextStep: 'Sign in with a browser. API keys cannot do this.',
  },
} as const satisfies Record<string, ErrorRow>;
