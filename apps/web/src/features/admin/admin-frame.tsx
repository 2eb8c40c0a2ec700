'use client';
import { LinkTabs } from '@slipway/ui';
import Link from 'next/link';
import { usePathname } from 'next/navigation';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import type { MessageKey } from '../../messages/translate.ts';
import { useSession } from '../session/me.ts';
import { type AdminGroup, adminTabs } from './tabs.ts';

const GROUPS: Record<AdminGroup, MessageKey> = {
  people: 'admin.groupPeople',
  agents: 'admin.groupAgents',
  spend: 'admin.groupSpend',
  security: 'admin.groupSecurity',
};

/**
 * The tabs of an organization around one of its pages. A page that the caller may not see is refused by the server, in
 * the page's own panel.
 */
export function AdminFrame({ children }: { children: ReactNode }) {
  const t = useTranslations();
  const { org } = useSession();
  const path = usePathname();
  const tabs = adminTabs(org).map((tab) => {
    const href = `/${org.slug}/admin/${tab.path}`;
    return {
      key: tab.path,
      group: t(GROUPS[tab.group]),
      current: path === href || path.startsWith(`${href}/`),
      link: <Link href={href}>{t(tab.label)}</Link>,
    };
  });
  return (
    <div className="flex h-full min-h-0 flex-col lg:flex-row">
      <LinkTabs label={t('common.organization')} tabs={tabs} />
      <div className="min-h-0 min-w-0 flex-1">{children}</div>
    </div>
  );
}
