'use client';
import type { ConversationSummary } from '@slipway/contracts/conversations';
import { AfterDelay, Card, Skeleton } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { ConversationCard } from '../conversations/conversation-row.tsx';
import { isActive } from '../conversations/status-label.ts';
import { Failed } from '../frame/failed.tsx';
import { useSession } from '../session/me.ts';
import { Composer } from './composer.tsx';
import { SuggestedTasks } from './suggested-tasks.tsx';

/** How often the lists are read again while an agent works and the page is looked at. Milliseconds. */
const REFRESH_MS = 15_000;
const SHOWN = 20;

export function Home() {
  const t = useTranslations();
  const { org } = useSession();
  const recent = useQuery({
    queryKey: ['conversations', org.id, 'recent'],
    queryFn: ({ signal }) => api.listConversations({ org: org.id, query: { limit: SHOWN }, signal }),
    refetchInterval: (query) =>
      query.state.data?.data.some((conversation) => isActive(conversation.status)) ? REFRESH_MS : false,
  });
  const all = recent.data?.data ?? [];
  const mayCreate = org.permissions.includes('conversation:create');
  return (
    <div className="h-full overflow-auto">
      <div className="mx-auto flex max-w-3xl flex-col gap-8 px-4 py-8 md:py-14">
        <section className="flex flex-col gap-4" aria-labelledby="new-task">
          <h1 id="new-task" className="text-xl font-semibold">
            {mayCreate ? t('common.newTask') : t('home.agentsIn', { name: org.name })}
          </h1>
          {mayCreate ? (
            <Composer />
          ) : (
            <p className="text-sm text-ink-muted">{t('home.youHaveViewAccessAnd', { name: org.name })}</p>
          )}
        </section>
        {mayCreate ? <SuggestedTasks /> : null}
        {recent.isError && all.length === 0 ? <Failed error={recent.error} retry={() => recent.refetch()} /> : null}
        {recent.isPending ? (
          <AfterDelay>
            <Skeleton className="h-40 w-full" />
          </AfterDelay>
        ) : null}
        <Group
          title={t('home.runningNow')}
          orgSlug={org.slug}
          conversations={all.filter((conversation) => isActive(conversation.status))}
        />
        <Group
          title={t('home.recent')}
          orgSlug={org.slug}
          conversations={all.filter((conversation) => !isActive(conversation.status)).slice(0, 8)}
          more
        />
      </div>
    </div>
  );
}

function Group({
  title,
  orgSlug,
  conversations,
  more = false,
}: {
  title: string;
  orgSlug: string;
  conversations: readonly ConversationSummary[];
  more?: boolean;
}) {
  const t = useTranslations();
  if (conversations.length === 0) return null;
  return (
    <section aria-label={title} className="flex flex-col gap-2">
      <div className="flex items-baseline justify-between">
        <h2 className="text-sm font-semibold text-ink-muted">{title}</h2>
        {more ? (
          <Link href={`/${orgSlug}/conversations`} className="-my-3 py-3 text-sm text-accent hover:underline">
            {t('home.allConversations')}
          </Link>
        ) : null}
      </div>
      <Card className="divide-y divide-line overflow-hidden">
        {conversations.map((conversation) => (
          <ConversationCard key={conversation.id} orgSlug={orgSlug} conversation={conversation} />
        ))}
      </Card>
    </section>
  );
}
