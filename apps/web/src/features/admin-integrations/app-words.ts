import type { AppState, ConnectionApp } from '@slipway/contracts/integrations';
import type { MessageKey, Translate } from '../../messages/translate.ts';

interface Shown {
  readonly label: MessageKey;
  readonly tone: 'ok' | 'warn' | 'bad' | 'neutral';
  /** What is to be done; `null`: nothing. */
  readonly next: MessageKey | null;
}

export const APP_STATES_SHOWN: Readonly<Record<AppState, Shown>> = {
  registered: {
    label: 'adminIntegrations.notInstalled',
    tone: 'warn',
    next: 'adminIntegrations.theAppIsCreatedInstall',
  },
  requested: {
    label: 'adminIntegrations.waitingForApproval',
    tone: 'warn',
    next: 'adminIntegrations.anOwnerOfTheAccount',
  },
  approved: {
    label: 'adminIntegrations.waitingForConfirmation',
    tone: 'warn',
    next: 'adminIntegrations.theAppIsInstalledAn',
  },
  installed: { label: 'adminIntegrations.installed', tone: 'ok', next: null },
  suspended: {
    label: 'adminIntegrations.suspended',
    tone: 'bad',
    next: 'adminIntegrations.anAccountAdministratorSuspendedThe',
  },
  removed: { label: 'adminIntegrations.uninstalled', tone: 'bad', next: 'adminIntegrations.theAppWasUninstalledAt' },
};

/** `2 repositories of acme`; `null`: it is not installed. */
export function reachOf(t: Translate, { account, repositories, selection }: ConnectionApp): string | null {
  if (account === null || selection === null) return null;
  const { login } = account;
  if (selection === 'all')
    return repositories === null
      ? t('adminIntegrations.allRepositoriesOf', { login })
      : t('adminIntegrations.allCountedRepositoriesOf', { repositories, login });
  return repositories === null
    ? t('adminIntegrations.someRepositoriesOf', { login })
    : t('adminIntegrations.countedRepositoriesOf', { repositories, login });
}
