import type { ErrorRow } from './error-row.js';

/** Why credential-broker does not pass a sandbox's request on. */
export const BROKER_ERRORS = {
  'credential.misplaced': {
    status: 403,
    title: 'This request is at no place of a credential',
    retry: 'never',
    nextStep: 'The detail names the places. An admin can change them: Admin, Credentials.',
  },
  'credential.foreign': {
    status: 403,
    title: 'The request brings a credential of its own',
    retry: 'never',
    nextStep:
      'Send it without the header or parameter that the detail names. An admin can let such requests pass at this place.',
  },
  'credential.resting': {
    status: 403,
    title: 'The credential for this host rests',
    retry: 'never',
    nextStep: 'The host has sent its value back. An admin can put it into use again: Admin, Credentials.',
  },
  'credential.asked': {
    status: 403,
    title: 'A user is asked whether the credential may be used',
    retry: 'later',
    nextStep: 'Nothing was sent. Answer the request in the conversation, then send the same request again.',
  },
  'credential.asked-too-often': {
    status: 403,
    title: 'The sandbox asks too often',
    retry: 'later',
    nextStep: 'Answer the requests that wait in the conversation first.',
  },
  'credential.use-denied': {
    status: 403,
    title: 'A user has refused this use of the credential',
    retry: 'never',
    nextStep: 'Do without it. The answer holds for an hour.',
  },
  'credential.uses-spent': {
    status: 403,
    title: 'This conversation has used the credential as often as it may',
    retry: 'never',
    nextStep: 'An admin can raise the number of uses at this place: Admin, Credentials.',
  },
  'credential.expired': {
    status: 403,
    title: 'The credential for this host has expired',
    retry: 'never',
    nextStep: 'An admin can set a later date: Admin, Credentials.',
  },
  'credential.rejected': {
    status: 403,
    title: 'The host does not accept the credential',
    retry: 'never',
    nextStep: 'An admin must give the credential named in the detail a value that the host accepts.',
  },
  'credential.undecided': {
    status: 503,
    title: 'Which credential may be used cannot be decided now',
    retry: 'later',
    nextStep: 'Try again in some seconds. Nothing is passed on meanwhile.',
  },
  'credential.request-refused': {
    status: 400,
    title: 'The request can be read in more than one way',
    retry: 'never',
    nextStep: 'Write the path plainly: no dot segments, empty segments or backslashes, and ASCII alone.',
  },
  'credential.method-refused': {
    status: 405,
    title: 'This method is never passed on',
    retry: 'never',
    nextStep: 'Use GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS.',
  },
  'credential.other-host': {
    status: 421,
    title: 'The connection is for another host',
    retry: 'never',
    nextStep: 'Open a connection of its own for each host.',
  },
  'credential.unsupported': {
    status: 403,
    title: 'The broker does not pass on this kind of request',
    retry: 'never',
    nextStep: 'The detail names what can be used in its place.',
  },
  'credential.too-large': {
    status: 413,
    title: 'The request is too large',
    retry: 'never',
    nextStep: 'Send less at once. An operator can raise BROKER_MAX_BODY_BYTES.',
  },
  'credential.unreachable': {
    status: 502,
    title: 'The host of a credential cannot be reached safely',
    retry: 'later',
    nextStep: 'The detail names what failed. A certificate that is not valid is never passed over.',
  },
} as const satisfies Record<string, ErrorRow>;
