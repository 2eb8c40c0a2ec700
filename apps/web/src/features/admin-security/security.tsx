'use client';
import { useTranslations } from 'next-intl';
import { Page } from '../frame/page.tsx';
import { useSession } from '../session/me.ts';
import { Domains } from './domains.tsx';
import { MemberSessions } from './member-sessions.tsx';
import { Rules } from './rules-form.tsx';

export function Security() {
  const t = useTranslations();
  const { org } = useSession();
  const sees = org.permissions.includes('security:read');
  return (
    <Page title={t('common.security')}>
      <div className="flex flex-col gap-8">
        {sees ? <Rules /> : null}
        {org.permissions.includes('domain:write') ? <Domains /> : null}
        {sees ? <MemberSessions /> : null}
      </div>
    </Page>
  );
}
