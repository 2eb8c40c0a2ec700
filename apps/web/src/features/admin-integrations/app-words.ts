import type { AppState, ConnectionApp } from '@slipway/contracts';

interface Shown {
  readonly label: string;
  readonly tone: 'ok' | 'warn' | 'bad' | 'neutral';
  /** What is to be done; `null`: nothing. */
  readonly next: string | null;
}

export const APP_STATES_SHOWN: Readonly<Record<AppState, Shown>> = {
  registered: { label: 'Not installed', tone: 'warn', next: 'The app is made. Install it on the account whose repositories it shall work in.' },
  requested: {
    label: 'Waiting for approval',
    tone: 'warn',
    next: 'An owner of the account has been asked to approve the app. Afterwards an owner who is an admin here confirms the installation.',
  },
  approved: {
    label: 'Waiting for confirmation',
    tone: 'warn',
    next: 'The app is installed. Somebody who administers the account and is an admin here signs in at the provider to confirm it.',
  },
  installed: { label: 'Installed', tone: 'ok', next: null },
  suspended: { label: 'Suspended', tone: 'bad', next: 'Whoever administers the account has suspended the installation, and can resume it at the provider.' },
  removed: { label: 'Uninstalled', tone: 'bad', next: 'The app was uninstalled at the provider. Install it again, or delete the connection.' },
};

/** `2 repositories of acme`; `null`: it is not installed. */
export function reachOf({ account, repositories, selection }: ConnectionApp): string | null {
  if (account === null || selection === null) return null;
  const count = repositories === null ? 'repositories' : repositories === 1 ? '1 repository' : `${repositories} repositories`;
  return `${selection === 'all' ? `all ${count}` : count} of ${account.login}`;
}
