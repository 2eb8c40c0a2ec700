import { z } from 'zod';

const Answer = z.object({ logoutUrl: z.string() });

/** Ends the session here and at the identity provider. @throws when the server could not be told: the person is then still signed in. */
export async function signOut(): Promise<void> {
  const response = await fetch('/api/logout', {
    method: 'POST',
    credentials: 'same-origin',
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok && response.status !== 401) throw new Error(`logout answered ${response.status}`);
  const answer = Answer.safeParse(await response.json().catch(() => null));
  window.location.assign(answer.success ? answer.data.logoutUrl : '/login');
}
