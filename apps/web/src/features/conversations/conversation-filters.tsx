'use client';
import { CONVERSATION_SORTS, CONVERSATION_STATUSES, ListConversationsQuery } from '@slipway/contracts/conversations';
import { Button, Checkbox, Select } from '@slipway/ui';
import { X } from 'lucide-react';
import { useSearchParams } from 'next/navigation';
import { useTranslations } from 'next-intl';
import { useAddressValue } from '../../browser/address.ts';
import { repositoryName } from '../../browser/format.ts';
import { type Option, translated } from '../../messages/translate.ts';
import { SearchField } from '../list/search-field.tsx';
import { useSession } from '../session/me.ts';
import { STATUS_LABELS } from './status-label.ts';

const ALL = 'all';
const STATUSES: readonly Option[] = [
  { value: ALL, label: 'conversations.allStatuses' },
  ...CONVERSATION_STATUSES.map((status) => ({ value: status, label: STATUS_LABELS[status] })),
];
const SORT_LABELS = {
  created: 'conversations.newestFirst',
  updated: 'conversations.recentlyActiveFirst',
  cost: 'conversations.mostExpensiveFirst',
} as const;
const SORTS = CONVERSATION_SORTS.map((sort) => ({ value: sort, label: SORT_LABELS[sort] }));
const NAMES = ['status', 'owner', 'repository', 'model', 'search', 'sort'] as const;

export type ConversationFilters = Pick<ListConversationsQuery, (typeof NAMES)[number]>;

/** The filters that the address names; what it says wrongly is as if it were not there. */
export function useConversationFilters(): {
  readonly filters: ConversationFilters;
  readonly any: boolean;
  readonly clear: () => void;
} {
  const asked = useSearchParams();
  const { shape } = ListConversationsQuery;
  const values = NAMES.flatMap((name) => {
    const value = asked.get(name);
    return value !== null && shape[name].safeParse(value).success ? [[name, value] as const] : [];
  });
  const filters = ListConversationsQuery.pick({
    status: true,
    owner: true,
    repository: true,
    model: true,
    search: true,
    sort: true,
  }).parse(Object.fromEntries(values));
  return {
    filters,
    any: values.some(([name]) => name !== 'sort'),
    clear: () => {
      const url = new URL(window.location.href);
      for (const name of NAMES) if (name !== 'sort') url.searchParams.delete(name);
      window.history.replaceState(null, '', url);
    },
  };
}

/** Search, status, order, one's own; and what a link from elsewhere has chosen, each to be taken away. */
export function ConversationFilterBar({ filters }: { filters: ConversationFilters }) {
  const t = useTranslations();
  const { me } = useSession();
  const [, setStatus] = useAddressValue('status');
  const [, setSort] = useAddressValue('sort');
  const [, setSearch] = useAddressValue('search');
  const [, setOwner] = useAddressValue('owner');
  const [, setRepository] = useAddressValue('repository');
  const [, setModel] = useAddressValue('model');
  const mine = filters.owner === me.id;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line px-4 py-2 md:px-6">
      <SearchField
        label={t('conversations.searchTitles')}
        value={filters.search ?? ''}
        onChange={(value) => setSearch(value === '' ? null : value)}
        className="w-full sm:w-60"
      />
      <Select
        aria-label={t('conversations.status')}
        className="w-40"
        options={translated(t, STATUSES)}
        value={filters.status ?? ALL}
        onChange={(value) => setStatus(value === ALL ? null : value, 'push')}
      />
      <Select
        aria-label={t('conversations.order')}
        className="w-44"
        options={translated(t, SORTS)}
        value={filters.sort}
        onChange={(value) => setSort(value === 'created' ? null : value, 'push')}
      />
      <Checkbox
        label={t('common.mine')}
        checked={mine}
        onChange={(checked) => setOwner(checked ? me.id : null, 'push')}
      />
      {filters.owner === undefined || mine ? null : (
        <Chosen words={t('conversations.oneUser')} clear={() => setOwner(null, 'push')} />
      )}
      {filters.repository === undefined ? null : (
        <Chosen
          words={filters.repository === '' ? t('conversations.noRepository2') : repositoryName(filters.repository)}
          clear={() => setRepository(null, 'push')}
        />
      )}
      {filters.model === undefined ? null : <Chosen words={filters.model} clear={() => setModel(null, 'push')} />}
    </div>
  );
}

function Chosen({ words, clear }: { words: string; clear: () => void }) {
  const t = useTranslations();
  return (
    <Button size="small" className="max-w-60" aria-label={t('conversations.removeFilter', { words })} onClick={clear}>
      <span className="truncate">{words}</span>
      <X aria-hidden />
    </Button>
  );
}
