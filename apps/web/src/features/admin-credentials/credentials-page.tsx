'use client';
import { Button, EmptyState, Notice } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { Page } from '../frame/page.tsx';
import { ListPanel } from '../list/list-panel.tsx';
import { useSession } from '../session/me.ts';
import { CredentialDialog } from './credential-form.tsx';
import { CredentialsTable } from './credentials-table.tsx';
import { SecretsInSandbox } from './secrets-in-sandbox.tsx';
import { useBroker, useCredentials, useReadAgain } from './use-credentials.ts';

/** Values that agents use and never have, and whether they are given others. */
export function CredentialsPage() {
  const t = useTranslations();
  const { org } = useSession();
  const [creating, setCreating] = useState(false);
  const credentials = useCredentials();
  const available = useBroker();
  const readAgain = useReadAgain();
  const mayChange = org.permissions.includes('credential:write');
  const add =
    mayChange && available === true ? (
      <Button tone="primary" onClick={() => setCreating(true)}>
        {t('adminCredentials.newCredential')}
      </Button>
    ) : null;
  return (
    <Page title={t('common.credentials')} description={t('adminCredentials.valuesThatAgentsUse')} action={add}>
      {available === false ? (
        <Notice tone="warn" title={t('adminCredentials.notAvailable')}>
          {t('adminCredentials.anOperatorSetsUpTheBroker')}
        </Notice>
      ) : null}
      <ListPanel
        list={credentials}
        noun={t('adminCredentials.credentials')}
        empty={
          <EmptyState title={t('adminCredentials.noCredentials')} className="rounded-lg border border-line">
            {t('adminCredentials.whatACredentialIs')}
            {mayChange ? null : ` ${t('adminCredentials.anAdminCanAdd')}`}
          </EmptyState>
        }
      >
        {(rows) => <CredentialsTable credentials={rows} mayChange={mayChange} onChanged={readAgain} />}
      </ListPanel>
      <SecretsInSandbox />
      {creating ? (
        <CredentialDialog
          credential={null}
          onClose={() => setCreating(false)}
          onDone={({ name }) => {
            toast(t('adminCredentials.added', { name }));
            setCreating(false);
            readAgain();
          }}
        />
      ) : null}
    </Page>
  );
}
