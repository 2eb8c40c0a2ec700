'use client';
import { Button } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import { ArrowUpRight } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { type KeyboardEvent, useLayoutEffect, useRef } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { Asker } from '../egress/asker.tsx';
import { cardOf, NO_MEMORY } from '../egress/card-state.ts';
import { groupsOf } from '../egress/request-groups.ts';
import { WaitingGroup } from '../egress/waiting-group.tsx';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';
import { useDeskStore } from './desk-context.tsx';
import type { DeskLine } from './desk-store.ts';

/** The hosts whole, and the answers of the conversation's card. No single key allows. */
export function AllowHere({ line, onClose }: { line: DeskLine; onClose: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const store = useDeskStore();
  const place = useRef<HTMLDivElement>(null);
  const { facts } = line;
  const { egress } = facts;
  const read = useQuery({
    queryKey: ['desk-egress-requests', org.id, facts.id, egress?.requestId, egress?.requests],
    queryFn: ({ signal }) => api.listEgressRequests({ org: org.id, conversation: facts.id, signal }),
    placeholderData: (before) => before,
    refetchOnWindowFocus: false,
    staleTime: 0,
  });
  // Before the next key, however soon it is pressed.
  useLayoutEffect(() => place.current?.focus(), []);
  if (egress == null) return null;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    onClose();
    event.preventDefault();
    event.stopPropagation();
  };
  const group = groupsOf(cardOf(read.data?.data ?? [], NO_MEMORY).waiting).find(({ requests }) =>
    requests.some(({ id }) => id === egress.requestId),
  );
  const seq = group?.requests[0].askedBy?.seq ?? null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would have its legend read before every control
    <div
      ref={place}
      role="group"
      tabIndex={-1}
      aria-label={t('deskPage.requestOf', { title: facts.title })}
      aria-busy={group === undefined && read.isFetching}
      onKeyDown={onKeyDown}
      className="flex basis-full flex-col gap-2 outline-none"
    >
      <ErrorNotice error={read.error} />
      {group === undefined ? null : (
        <WaitingGroup
          conversationId={facts.id}
          requests={group.requests}
          opensHosts={read.data?.opensHosts === true}
          asker={
            <Asker
              askedBy={group.requests[0].askedBy ?? null}
              repository={facts.repository}
              place={
                seq === null ? null : (
                  <Button asChild size="icon-small" tone="quiet">
                    <Link
                      href={`/${org.slug}/conversations/${facts.id}?event=${seq}`}
                      aria-label={t('egress.showInTimeline')}
                      title={t('egress.showInTimeline')}
                    >
                      <ArrowUpRight aria-hidden />
                    </Link>
                  </Button>
                )
              }
            />
          }
          // The row leaves with the next word of the server.
          onOutcome={({ decided, late, failed }) => {
            if (decided.length > 0) void read.refetch();
            const [error] = failed.values();
            if (error === undefined && late.length === 0) return;
            if (error !== undefined) {
              const { title, detail, nextStep } = failureOf(error);
              toast.error(title, { description: [detail, nextStep].filter(Boolean).join(' ') });
            }
            store.again();
          }}
        />
      )}
    </div>
  );
}
