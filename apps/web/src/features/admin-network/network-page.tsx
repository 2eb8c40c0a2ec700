'use client';
import { Notice } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { Page } from '../frame/page.tsx';
import { AnsweredHosts } from './answered-hosts.tsx';
import { EgressBudget } from './egress-budget.tsx';
import { NewPackages } from './new-packages.tsx';
import { ObservedHosts } from './observed-hosts.tsx';
import { Rules } from './rules.tsx';
import { TopHosts } from './top-hosts.tsx';
import { UnknownHosts } from './unknown-hosts.tsx';
import { useRules } from './use-rules.ts';

/** Which hosts sandboxes reach. */
export function NetworkPage() {
  const t = useTranslations();
  const rules = useRules();
  return (
    <Page title={t('common.network')} description={t('adminNetwork.whichHostsSandboxesMayReach')}>
      {rules.data?.enforced === false ? (
        <Notice tone="warn" title={t('adminNetwork.nothingEnforcesThem')}>
          {t('adminNetwork.anOperatorSetsUpEgressProxy')}
        </Notice>
      ) : null}
      <UnknownHosts />
      <AnsweredHosts />
      <ObservedHosts />
      <Rules />
      <EgressBudget />
      <NewPackages />
      <TopHosts />
    </Page>
  );
}
