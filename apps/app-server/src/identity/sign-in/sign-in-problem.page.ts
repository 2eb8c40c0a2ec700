import { ERRORS } from '@slipway/contracts/errors';
import type { SlipwayError } from '@slipway/errors';

/** What a user sees whose sign-in did not work: why, and a link to try again. Holds no text from outside. */
export function signInProblemPage(error: SlipwayError): {
  status: number;
  headers: Record<string, string>;
  html: string;
} {
  const { status, title, nextStep } = ERRORS[error.code];
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      ...(error.more.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.more.retryAfterSeconds) }),
    },
    html: `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title} - Slipway</title>
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem}a{color:LinkText}</style>
<main><h1>${title}</h1><p>${error.detail} ${nextStep}</p><p><a href="/oauth/login">Sign in again</a></p></main></html>`,
  };
}
