'use client';
import { ListSecretsQuery } from '@slipway/contracts/secrets';
import { Button, EmptyState, Section, Select } from '@slipway/ui';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { useAddressValue } from '../../browser/address.ts';
import { type Option, translated } from '../../messages/translate.ts';
import { Page } from '../frame/page.tsx';
import { ListPanel } from '../list/list-panel.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { usePages } from '../list/use-pages.ts';
import { useSession } from '../session/me.ts';
import { NewSecretDialog, type Whose } from './secret-form.tsx';
import { SecretsTable } from './secrets-table.tsx';

const ANY = 'any';
const SCOPES: readonly Option[] = [
  { value: ANY, label: 'adminSecrets.anyScope' },
  { value: 'org', label: 'adminSecrets.allConversations2' },
  { value: 'environment', label: 'adminSecrets.environment3' },
  { value: 'repository', label: 'adminSecrets.repository' },
  { value: 'conversation', label: 'adminSecrets.oneConversation3' },
];

export function SecretsPage() {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const [creating, setCreating] = useState<Whose | null>(null);
  const [filter, setFilter] = useAddressValue('scope');
  const scope = ListSecretsQuery.shape.scope.safeParse(filter ?? undefined).data;
  const mayChange = org.permissions.includes('secret:write');
  const works = org.permissions.includes('conversation:create');
  const secrets = usePages({
    key: ['secrets', org.id, scope ?? ANY],
    read: (cursor, signal) =>
      api.listSecrets({ org: org.id, query: { ...cursor, ...(scope === undefined ? {} : { scope }) }, signal }),
  });
  const changed = () => {
    void queries.invalidateQueries({ queryKey: ['secrets', org.id] });
    void queries.invalidateQueries({ queryKey: ['my-secrets', org.id] });
  };
  return (
    <Page
      title={t('common.secrets')}
      description={t('adminSecrets.valuesThatSandboxesGetBy')}
      action={
        mayChange ? (
          <Button tone="primary" onClick={() => setCreating('org')}>
            {t('adminSecrets.newSecret')}
          </Button>
        ) : null
      }
    >
      <Select
        aria-label={t('adminSecrets.scope')}
        className="w-52"
        options={translated(t, SCOPES)}
        value={scope ?? ANY}
        onChange={(value) => setFilter(value === ANY ? null : value, 'push')}
      />
      <ListPanel
        list={secrets}
        noun={t('adminSecrets.secrets')}
        filtered={scope === undefined ? null : () => setFilter(null)}
        empty={
          <EmptyState title={t('adminSecrets.noSecrets')} className="rounded-lg border border-line">
            {mayChange ? t('adminSecrets.storeATokenHereInstead') : t('adminSecrets.anAdminCanAddSecrets')}
          </EmptyState>
        }
      >
        {(rows) => (
          <SecretsTable
            label={t('common.secrets')}
            secrets={rows}
            whose="org"
            mayChange={mayChange}
            onChanged={changed}
          />
        )}
      </ListPanel>
      {works ? <PersonalSecrets onCreate={() => setCreating('mine')} onChanged={changed} /> : null}
      {creating === null ? null : (
        <NewSecretDialog
          whose={creating}
          open
          onClose={() => setCreating(null)}
          onMade={(secret) => {
            toast(t('adminSecrets.added', { name: secret.name }));
            setCreating(null);
            changed();
          }}
        />
      )}
    </Page>
  );
}

function PersonalSecrets({ onCreate, onChanged }: { onCreate: () => void; onChanged: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const secrets = useQuery({
    queryKey: ['my-secrets', org.id],
    queryFn: ({ signal }) => api.listMySecrets({ org: org.id, signal }),
  });
  return (
    <Section
      title={t('adminSecrets.personalSecrets')}
      description={t('adminSecrets.availableOnlyToConversationsThat')}
      action={<Button onClick={onCreate}>{t('adminSecrets.newPersonalSecret')}</Button>}
    >
      <QueryPanel query={secrets} label={t('adminSecrets.personalSecrets2')}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title={t('adminSecrets.noPersonalSecrets')} className="rounded-lg border border-line">
              {t('adminSecrets.addAGitTokenTo')}
            </EmptyState>
          ) : (
            <SecretsTable
              label={t('adminSecrets.personalSecrets2')}
              secrets={data}
              whose="mine"
              mayChange
              onChanged={onChanged}
            />
          )
        }
      </QueryPanel>
    </Section>
  );
}
