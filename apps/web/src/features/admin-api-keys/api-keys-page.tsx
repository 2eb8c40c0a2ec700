'use client';
import { type API_KEY_STATES, ListApiKeysQuery } from '@slipway/contracts/identity';
import { Button, Checkbox, EmptyState, Select } from '@slipway/ui';
import { useQueryClient } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useAddressValue } from '../../browser/address.ts';
import { type Option, translated } from '../../messages/translate.ts';
import { Page } from '../frame/page.tsx';
import { ListPanel } from '../list/list-panel.tsx';
import { usePages } from '../list/use-pages.ts';
import { useSession } from '../session/me.ts';
import { CreateKeyDialog } from './create-key.tsx';
import { type KeyTask, KeyTaskDialog } from './key-actions.tsx';
import { KEY_STATES } from './key-words.ts';
import { KeysTable } from './keys-table.tsx';
import { ServiceAccounts } from './service-accounts.tsx';

const ANY = 'any';
const STATES: readonly Option[] = [
  { value: ANY, label: 'adminApiKeys.anyState' },
  ...Object.entries(KEY_STATES).map(([value, { label }]) => ({
    value: value as (typeof API_KEY_STATES)[number],
    label,
  })),
];

export function ApiKeysPage() {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const [creating, setCreating] = useState(false);
  const [task, setTask] = useState<KeyTask | null>(null);
  const [everybodys, setEverybodys] = useAddressValue('all');
  const [filter, setFilter] = useAddressValue('state');
  const mayManage = org.permissions.includes('api-key:manage');
  const mayMake = org.permissions.includes('api-key:write');
  const all = mayManage && everybodys === 'true';
  const state = ListApiKeysQuery.shape.state.safeParse(filter ?? undefined).data;
  const keys = usePages({
    key: ['api-keys', org.id, all, state ?? ANY],
    read: (cursor, signal) =>
      api.listApiKeys({
        org: org.id,
        query: { ...cursor, all: all ? 'true' : 'false', ...(state === undefined ? {} : { state }) },
        signal,
      }),
  });
  const seesAccounts = org.permissions.includes('service-account:read');
  const accounts = usePages({
    key: ['service-accounts', org.id],
    read: (cursor, signal) => api.listServiceAccounts({ org: org.id, query: cursor, signal }),
    enabled: seesAccounts,
  });
  const changed = () => {
    void queries.invalidateQueries({ queryKey: ['api-keys', org.id] });
    void queries.invalidateQueries({ queryKey: ['service-accounts', org.id] });
  };
  const make = mayMake ? (
    <Button tone="primary" onClick={() => setCreating(true)}>
      <KeyRound aria-hidden /> {t('adminApiKeys.newApiKey')}
    </Button>
  ) : null;
  return (
    <Page title={t('common.apiKeys')} description={t('adminApiKeys.programsUseAKeyTo')} action={make}>
      <div className="flex flex-wrap items-center gap-x-6 gap-y-2">
        <Select
          aria-label={t('common.state')}
          className="w-40"
          options={translated(t, STATES)}
          value={state ?? ANY}
          onChange={(value) => setFilter(value === ANY ? null : value, 'push')}
        />
        {mayManage ? (
          <Checkbox
            label={t('adminApiKeys.everyonesKeys')}
            checked={all}
            onChange={(checked) => setEverybodys(checked ? 'true' : null, 'push')}
          />
        ) : null}
      </div>
      <ListPanel
        list={keys}
        noun={t('common.apiKeys')}
        filtered={state === undefined ? null : () => setFilter(null)}
        empty={
          <EmptyState
            title={all ? t('adminApiKeys.noApiKeys') : t('adminApiKeys.youHaveNoApiKeys')}
            className="rounded-lg border border-line"
          >
            {t('adminApiKeys.useAKeyToStart')}
          </EmptyState>
        }
      >
        {(rows) => <KeysTable keys={rows} mayChange={mayMake} withOwner={all} onTask={setTask} />}
      </ListPanel>
      {seesAccounts ? <ServiceAccounts accounts={accounts} onChanged={changed} /> : null}
      {task === null ? null : <KeyTaskDialog task={task} onClose={() => setTask(null)} onChanged={changed} />}
      <CreateKeyDialog
        open={creating}
        accounts={org.permissions.includes('service-account:write') ? accounts.rows : []}
        onClose={() => setCreating(false)}
        onMade={changed}
      />
    </Page>
  );
}
