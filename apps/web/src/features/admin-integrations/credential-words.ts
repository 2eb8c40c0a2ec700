import type { ConnectionCredential, IntegrationProvider } from '@slipway/contracts';

/** One line about the health of a credential. */
export interface HealthLine {
  readonly tone: 'warn' | 'bad';
  readonly text: string;
}

const DAY_MS = 86_400_000;
/** Of an access token that nobody renews. Days. */
const SOON_DAYS = 7;

/** What an admin has to know, the worst first; empty: all is well. @param refused the connection needs attention, and its page says why. */
export function healthOf(credential: ConnectionCredential | null, provider: Pick<IntegrationProvider, 'name' | 'does'>, now: number): readonly HealthLine[] {
  if (credential === null)
    return [{ tone: 'warn', text: provider.does.includes('code') ? 'Nothing that names a repository is started.' : 'Nothing is answered there.' }];
  const { expiresAt, renews, missingScopes, problem } = credential;
  const lines: HealthLine[] = [];
  if (problem !== null) lines.push({ tone: 'bad', text: problem });
  if (expiresAt !== null && !renews) {
    const days = Math.floor((Date.parse(expiresAt) - now) / DAY_MS);
    if (days < 0) lines.push({ tone: 'bad', text: `It ended on ${expiresAt.slice(0, 10)}.` });
    else if (days <= SOON_DAYS) lines.push({ tone: 'warn', text: `It ends ${days === 0 ? 'within a day' : days === 1 ? 'in a day' : `in ${days} days`}.` });
  }
  if (missingScopes.length > 0)
    lines.push({ tone: 'warn', text: `${missingScopes.length === 1 ? 'A scope is' : 'Scopes are'} missing at ${provider.name}: ${missingScopes.join(', ')}.` });
  return lines;
}

export function kindOf({ kind }: ConnectionCredential): string {
  return { token: 'Access token', 'oauth-tokens': 'Authorized with OAuth', 'app-installation': 'Installed app' }[kind];
}
