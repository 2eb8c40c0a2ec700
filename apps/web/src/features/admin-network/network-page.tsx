'use client';
import { useTranslations } from 'next-intl';
import { Page } from '../frame/page.tsx';
import { Rules } from './rules.tsx';
import { UnknownHosts } from './unknown-hosts.tsx';

/** Which hosts sandboxes reach. */
export function NetworkPage() {
  const t = useTranslations();
  return (
    <Page title={t('common.network')} description={t('adminNetwork.whichHostsSandboxesMayReach')}>
      <UnknownHosts />
      <Rules />
    </Page>
  );
}
