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
/** A tag may have any name, also that of the choice of all. */
const ALL_TAGS = 'all';
const TAG = 'tag:';
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
const NAMES = ['status', 'owner', 'repository', 'model', 'search', 'shown', 'tag', 'sort'] as const;
/** A place of its own or an order: nothing that leaves conversations out of it. */
const NO_FILTERS: readonly string[] = ['shown', 'sort'];

const SHOWN_OPTIONS: readonly Option[] = [
  { value: 'open', label: 'conversationEdits.shownOpen' },
  { value: 'archived', label: 'conversationEdits.shownArchived' },
  { value: 'deleted', label: 'conversationEdits.shownTrash' },
  { value: 'all', label: 'conversationEdits.shownAll' },
];

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
    shown: true,
    tag: true,
    sort: true,
  }).parse(Object.fromEntries(values));
  return {
    filters,
    any: values.some(([name]) => !NO_FILTERS.includes(name)),
    clear: () => {
      const url = new URL(window.location.href);
      for (const name of NAMES) if (!NO_FILTERS.includes(name)) url.searchParams.delete(name);
      window.history.replaceState(null, '', url);
    },
  };
}

/** Search, status, order, one's own; and what a link from elsewhere has chosen, each to be taken away. */
export function ConversationFilterBar({
  filters,
  tags,
}: {
  filters: ConversationFilters;
  /** Of the conversations that are listed. */
  tags: readonly string[];
}) {
  const t = useTranslations();
  const { me } = useSession();
  const [, setStatus] = useAddressValue('status');
  const [, setShown] = useAddressValue('shown');
  const [, setTag] = useAddressValue('tag');
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
        aria-label={t('conversationEdits.show')}
        className="w-44"
        options={translated(t, SHOWN_OPTIONS)}
        value={filters.shown}
        onChange={(value) => setShown(value === 'open' ? null : value, 'push')}
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
      {tags.length === 0 && filters.tag === undefined ? null : (
        <Select
          aria-label={t('conversationEdits.tags')}
          className="w-36"
          options={[
            { value: ALL_TAGS, label: t('conversationEdits.allTags') },
            ...[...new Set([...tags, ...(filters.tag === undefined ? [] : [filters.tag])])].map((tag) => ({
              value: `${TAG}${tag}`,
              label: tag,
            })),
          ]}
          value={filters.tag === undefined ? ALL_TAGS : `${TAG}${filters.tag}`}
          onChange={(value) => setTag(value === ALL_TAGS ? null : value.slice(TAG.length), 'push')}
        />
      )}
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
