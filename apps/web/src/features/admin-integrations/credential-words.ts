import type { ConnectionCredential, IntegrationProvider } from '@slipway/contracts/integrations';
import type { Translate } from '../../messages/translate.ts';

/** One line about the health of a credential. */
export interface HealthLine {
  readonly tone: 'warn' | 'bad';
  readonly text: string;
}

const DAY_MS = 86_400_000;
/** Of an access token that nobody renews. Days. */
const SOON_DAYS = 7;

/**
 * What an admin has to know, the worst first; empty: all is well. @param refused the connection needs attention, and
 * its page says why.
 */
export function healthOf(
  t: Translate,
  credential: ConnectionCredential | null,
  provider: Pick<IntegrationProvider, 'name' | 'does'>,
  now: number,
): readonly HealthLine[] {
  if (credential === null)
    return [
      {
        tone: 'warn',
        text: provider.does.includes('code')
          ? t('adminIntegrations.requestsThatNameARepository')
          : t('adminIntegrations.slipwayCannotReplyThere'),
      },
    ];
  const { expiresAt, renews, missingScopes, problem } = credential;
  const lines: HealthLine[] = [];
  if (problem !== null) lines.push({ tone: 'bad', text: problem });
  if (expiresAt !== null && !renews) {
    const days = Math.floor((Date.parse(expiresAt) - now) / DAY_MS);
    if (days < 0)
      lines.push({ tone: 'bad', text: t('adminIntegrations.itExpiredOn', { expiresAt: expiresAt.slice(0, 10) }) });
    else if (days <= SOON_DAYS)
      lines.push({
        tone: 'warn',
        text: t('adminIntegrations.itEnds', {
          days,
        }),
      });
  }
  if (missingScopes.length > 0)
    lines.push({
      tone: 'warn',
      text: t('adminIntegrations.scopesMissing', {
        count: missingScopes.length,
        provider: provider.name,
        scopes: missingScopes.join(', '),
      }),
    });
  return lines;
}

export function kindOf(t: Translate, { kind }: ConnectionCredential): string {
  return {
    token: t('adminIntegrations.accessToken'),
    'oauth-tokens': t('adminIntegrations.authorizedWithOauth'),
    'app-installation': t('adminIntegrations.installedApp'),
  }[kind];
}
