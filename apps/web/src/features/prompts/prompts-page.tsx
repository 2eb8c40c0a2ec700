'use client';
import { PromptScope } from '@slipway/contracts/conversations';
import { Button, EmptyState, Select } from '@slipway/ui';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useCallback, useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { useAddressValue } from '../../browser/address.ts';
import { type Option, translated } from '../../messages/translate.ts';
import { Page } from '../frame/page.tsx';
import { ListPanel } from '../list/list-panel.tsx';
import { SearchField } from '../list/search-field.tsx';
import { usePages } from '../list/use-pages.ts';
import { useSession } from '../session/me.ts';
import { PromptDialog } from './prompt-form.tsx';
import { PromptsTable } from './prompts-table.tsx';

const ALL = 'all';
const SCOPES: readonly Option[] = [
  { value: ALL, label: 'prompts.all' },
  { value: 'user', label: 'prompts.yours' },
  { value: 'org', label: 'prompts.organization' },
];

export function PromptsPage() {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const [isCreating, setIsCreating] = useState(false);
  const [filter, setFilter] = useAddressValue('scope');
  const [search, setSearch] = useAddressValue('q');
  const onSearch = useCallback((value: string) => setSearch(value === '' ? null : value), [setSearch]);
  const scope = PromptScope.safeParse(filter ?? undefined).data;
  const mayWrite = org.permissions.includes('prompt:write');
  const query = { ...(scope === undefined ? {} : { scope }), ...(search ? { search: search.slice(0, 100) } : {}) };
  const prompts = usePages({
    key: ['prompts', org.id, query],
    read: (cursor, signal) => api.listPrompts({ org: org.id, query: { ...cursor, ...query }, signal }),
  });
  const changed = () => void queries.invalidateQueries({ queryKey: ['prompts', org.id] });
  const create = mayWrite ? (
    <Button tone="primary" onClick={() => setIsCreating(true)}>
      {t('prompts.new')}
    </Button>
  ) : null;
  const clear = () => {
    setFilter(null);
    setSearch(null);
  };
  return (
    <Page title={t('common.prompts')} description={t('prompts.description')} action={create}>
      <div className="flex flex-wrap gap-3">
        <SearchField label={t('prompts.search')} value={search ?? ''} onChange={onSearch} className="w-full sm:w-72" />
        <Select
          aria-label={t('prompts.scope')}
          className="w-full sm:w-44"
          options={translated(t, SCOPES)}
          value={scope ?? ALL}
          onChange={(value) => setFilter(value === ALL ? null : value, 'push')}
        />
      </div>
      <ListPanel
        list={prompts}
        noun={t('prompts.noun')}
        filtered={scope === undefined && !search ? null : clear}
        empty={
          <EmptyState title={t('prompts.none')} className="rounded-lg border border-line">
            {t(mayWrite ? 'prompts.noneWithWrite' : 'prompts.noneWithoutWrite')}
          </EmptyState>
        }
      >
        {(rows) => <PromptsTable prompts={rows} onChanged={changed} />}
      </ListPanel>
      <PromptDialog
        prompt={null}
        open={isCreating}
        onClose={() => setIsCreating(false)}
        onDone={({ name }) => {
          toast(t('prompts.created', { name }));
          setIsCreating(false);
          changed();
        }}
      />
    </Page>
  );
}
