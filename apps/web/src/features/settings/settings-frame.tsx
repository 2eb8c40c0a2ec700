'use client';
import { LinkTabs } from '@slipway/ui';
import Link from 'next/link';
import { usePathname } from 'next/navigation';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import { useHydrated } from '../../browser/hydrated.ts';
import { useStored } from '../../browser/stored.ts';
import { FrameSkeleton } from '../frame/frame-skeleton.tsx';
import { LAST_ORG, lastOrg } from '../frame/last-org.ts';
import { Shell } from '../frame/shell.tsx';
import { SignedIn } from '../session/signed-in.tsx';

/** Pages about the user, in the order of the tabs. */
const SETTINGS_TABS = [
  { path: 'profile', label: 'common.profile' },
  { path: 'sessions', label: 'common.sessions' },
  { path: 'keys', label: 'common.keyboard' },
  { path: 'connections', label: 'common.connections' },
  { path: 'linked-accounts', label: 'common.linkedAccounts' },
] as const;

/** One's own settings hold in every organization; the rail beside them is that of the one which was looked at last. */
export function SettingsFrame({ children }: { children: ReactNode }) {
  const t = useTranslations();
  const [last] = useStored(LAST_ORG, '');
  const hydrated = useHydrated();
  const path = usePathname();
  const tabs = SETTINGS_TABS.map((tab) => {
    const href = `/settings/${tab.path}`;
    return { key: tab.path, current: path === href, link: <Link href={href}>{t(tab.label)}</Link> };
  });
  const page = (
    <div className="flex h-full min-h-0 flex-col lg:flex-row">
      <LinkTabs label={t('common.settings')} tabs={tabs} />
      <div className="min-h-0 min-w-0 flex-1">{children}</div>
    </div>
  );
  return (
    <SignedIn>
      {(me) => {
        // Which organization this browser looked at last, the server does not know.
        if (!hydrated) return <FrameSkeleton />;
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
