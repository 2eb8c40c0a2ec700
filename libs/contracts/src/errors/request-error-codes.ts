import type { ErrorRow } from './error-row.js';

/** Failures of requests, before anything is done about them. */
export const REQUEST_ERRORS = {
  'request.invalid': {
    status: 400,
    title: 'The request is not valid',
    retry: 'never',
    nextStep: 'Correct the fields that are listed and send it again.',
  },
  'request.not-json': {
    status: 400,
    title: 'The body is not JSON',
    retry: 'never',
    nextStep: 'Send a JSON body with Content-Type application/json.',
  },
  'request.headers-too-many': {
    status: 431,
    title: 'The request has too many headers',
    retry: 'never',
    nextStep: 'Send fewer headers.',
  },
  'request.too-slow': {
    status: 408,
    title: 'The body arrived too slowly',
    retry: 'later',
    nextStep: 'Send it again over a faster connection.',
  },
  'request.not-bytes': {
    status: 415,
    title: 'The body is not a file',
    retry: 'never',
    nextStep: 'Send its bytes as the body, with the header content-type: application/octet-stream.',
  },
  'request.too-large': {
    status: 413,
    title: 'The body is too large',
    retry: 'never',
    nextStep: 'Send less. Put large content into a file of the repository.',
  },
  'request.cross-site': {
    status: 403,
    title: 'The request came from another site',
    retry: 'never',
    nextStep: 'Call the API from its own origin, or use an API key instead of the cookie.',
  },
} as const satisfies Record<string, ErrorRow>;
