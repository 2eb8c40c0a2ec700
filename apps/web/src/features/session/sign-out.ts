import { z } from 'zod';
import { forgetWriting } from '../../browser/kept-writing.ts';

const Answer = z.object({ logoutUrl: z.string() });

/**
 * Ends the session here. Answers where to go to end it at the identity provider as well. @throws when the server could
 * not be reached: the user is then still signed in.
 */
async function endSession(): Promise<string> {
  const response = await fetch('/api/logout', {
    method: 'POST',
    credentials: 'same-origin',
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok && response.status !== 401) throw new Error(`Signing out was answered with ${response.status}.`);
  forgetDrafts();
  const answer = Answer.safeParse(await response.json().catch(() => null));
  return answer.success ? answer.data.logoutUrl : '/login';
}

/** What was written here and not sent is nobody else's. */
function forgetDrafts(): void {
  try {
    forgetWriting(window.localStorage);
  } catch {
    // Nothing was kept.
  }
}

/** Signs out, here and at the identity provider. @throws as `endSession`. */
export async function signOut(): Promise<void> {
  window.location.assign(await endSession());
}

/** The same, to come back to this page with another account. @throws as `endSession`. */
export async function switchAccount(): Promise<void> {
  const url = await endSession();
  keepReturnPath(window.location.pathname + window.location.search);
  window.location.assign(url);
}

const RETURN_PATH = 'slipway.return-path';

/**
 * The identity provider sends back to the start page, whatever was open: this tab remembers. Storage that is forbidden
 * loses it, and nothing else.
 */
function keepReturnPath(path: string): void {
  try {
    window.sessionStorage.setItem(RETURN_PATH, path);
  } catch {
    // The user then opens the page once more.
  }
}

/** Where this tab goes after signing in again, once; `null`: where it is. */
export function takeReturnPath(): string | null {
  try {
    const path = window.sessionStorage.getItem(RETURN_PATH);
    window.sessionStorage.removeItem(RETURN_PATH);
    return path;
  } catch {
    return null;
  }
}
