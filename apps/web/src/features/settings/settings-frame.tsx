'use client';
import { LinkTabs } from '@slipway/ui';
import Link from 'next/link';
import { usePathname } from 'next/navigation';
import type { ReactNode } from 'react';
import { useStored } from '../../browser/stored.ts';
import { LAST_ORG, lastOrg } from '../frame/last-org.ts';
import { Shell } from '../frame/shell.tsx';
import { SignedIn } from '../session/signed-in.tsx';

/** Pages about the person, in the order of the tabs. */
const SETTINGS_TABS = [
  { path: 'profile', label: 'Profile' },
  { path: 'sessions', label: 'Sessions' },
  { path: 'connections', label: 'Connections' },
  { path: 'linked-accounts', label: 'Linked accounts' },
] as const;

/** One's own settings hold in every organization; the rail beside them is that of the one which was looked at last. */
export function SettingsFrame({ children }: { children: ReactNode }) {
  const [last] = useStored(LAST_ORG, '');
  const path = usePathname();
  const tabs = SETTINGS_TABS.map((tab) => {
    const href = `/settings/${tab.path}`;
    return { key: tab.path, current: path === href, link: <Link href={href}>{tab.label}</Link> };
  });
  const page = (
    <div className="flex h-full min-h-0 flex-col lg:flex-row">
      <LinkTabs label="Settings" tabs={tabs} />
      <div className="min-h-0 min-w-0 flex-1">{children}</div>
    </div>
  );
  return (
    <SignedIn>
      {(me) => {
        const org = lastOrg(me, last);
        return org === undefined ? (
          <main className="h-dvh">{page}</main>
        ) : (
          <Shell me={me} org={org}>
            {page}
          </Shell>
        );
      }}
    </SignedIn>
  );
}
