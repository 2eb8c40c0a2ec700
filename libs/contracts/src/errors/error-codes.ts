import { BROKER_ERRORS } from './broker-error-codes.js';
import { CHECKPOINT_ERRORS } from './checkpoint-error-codes.js';
import { CONVERSATION_ERRORS } from './conversation-error-codes.js';
import type { ErrorRow } from './error-row.js';
import { IDENTITY_ERRORS } from './identity-error-codes.js';
import { INTEGRATION_ERRORS } from './integration-error-codes.js';
import { KEY_ERRORS } from './key-error-codes.js';
import { MODEL_ERRORS } from './model-error-codes.js';
import { ORGANIZATION_ERRORS } from './organization-error-codes.js';
import { REQUEST_ERRORS } from './request-error-codes.js';
import { SANDBOX_ERRORS } from './sandbox-error-codes.js';
import { SECRET_ERRORS } from './secret-error-codes.js';
import { SPENDING_ERRORS } from './spending-error-codes.js';

/** Every failure that leaves a process has a code here, by subject. Add a row; docs/errors/ is generated from it. */
export const ERRORS = {
  ...REQUEST_ERRORS,
  ...IDENTITY_ERRORS,
  'permission.denied': {
    status: 403,
    title: 'Your role does not allow this',
    retry: 'never',
    nextStep: 'Ask an admin of the organization for the permission named in the detail.',
  },
  'resource.not-found': {
    status: 404,
    title: 'Not found',
    retry: 'never',
    nextStep: 'Check the address. It may have been deleted, or belong to another organization.',
  },
  'idempotency.mismatch': {
    status: 422,
    title: 'This idempotency key was used with another body',
    retry: 'never',
    nextStep: 'Use a new key for a new request.',
  },
  'idempotency.in-progress': {
    status: 409,
    title: 'The first request with this key is still running',
    retry: 'later',
    nextStep: 'Wait for it; the same key then answers with its result.',
  },
  'rate.limited': {
    status: 429,
    title: 'Too many requests',
    retry: 'later',
    nextStep: 'Wait for the time in Retry-After.',
  },
  'stream.limit': {
    status: 429,
    title: 'Too many open streams',
    retry: 'later',
    nextStep: 'Close tabs, terminals or clients that you do not need. The connection is retried automatically.',
  },
  ...KEY_ERRORS,
  ...CONVERSATION_ERRORS,
  ...SANDBOX_ERRORS,
  ...CHECKPOINT_ERRORS,
  ...BROKER_ERRORS,
  ...MODEL_ERRORS,
  'settings.changed': {
    status: 412,
    title: 'The settings have changed',
    retry: 'never',
    nextStep: 'Reload them and apply your change to the current version.',
  },
  ...ORGANIZATION_ERRORS,
  ...SECRET_ERRORS,
  ...INTEGRATION_ERRORS,
  'settings.name-taken': {
    status: 409,
    title: 'This name is already used',
    retry: 'never',
    nextStep: 'Edit the existing entry, or choose another name.',
  },
  'settings.too-many': {
    status: 409,
    title: 'Limit reached',
    retry: 'never',
    nextStep: 'Delete an entry that is no longer needed.',
  },
  'settings.url-refused': {
    status: 422,
    title: 'Slipway cannot call this URL',
    retry: 'never',
    nextStep: 'Use an https URL with a public host.',
  },
  'settings.not-here': {
    status: 409,
    title: 'This installation does not allow it',
    retry: 'never',
    nextStep: 'Ask the operator of this installation.',
  },
  ...SPENDING_ERRORS,
  'config.invalid': {
    status: 500,
    title: 'The configuration is not valid',
    retry: 'never',
    nextStep: 'Correct the variables that are listed.',
  },
  'service.unavailable': {
    status: 503,
    title: 'A part of the system does not answer',
    retry: 'later',
    nextStep: 'Wait a moment and try again.',
  },
  'internal.unexpected': {
    status: 500,
    title: 'Something broke on our side',
    retry: 'later',
    nextStep: 'Try again. If the error persists, send the request ID to support.',
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;
export const ERROR_CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];
