'use client';
import {
  type EgressBodies,
  type EgressTraffic,
  type EgressTrafficRow,
  MAX_TRAFFIC_ROWS,
} from '@slipway/contracts/sandboxes';
import { Badge, Button, EmptyState, Input, Notice, ScrollBox, Select, SkeletonLines } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Ago } from '../../browser/ago.tsx';
import { bytes, number } from '../../browser/format.ts';
import { type Option, translated } from '../../messages/translate.ts';
import { useConversation } from '../conversation/conversation-context.ts';
import { Failed } from '../frame/failed.tsx';
import { bodiesOfRows } from './body-words.ts';
import { HostBodies } from './host-bodies.tsx';
import { budgetText, placeText, reasonText, type Shown, shownOf, totalText } from './traffic-words.ts';

/** Between two reads while the panel is open; the counts themselves come every 5 s. Milliseconds. */
const READ_MS = 5_000;
const SHOWN: readonly Option[] = [
  { value: 'all', label: 'traffic.all' },
  { value: 'let-through', label: 'traffic.letThrough' },
  { value: 'refused', label: 'traffic.refusedOnly' },
];

/** Where the sandbox sent data, how much, and what was refused. */
export function TrafficPanel() {
  const t = useTranslations();
  const { orgId, conversation } = useConversation();
  const traffic = useQuery({
    queryKey: ['egress-traffic', orgId, conversation.id],
    queryFn: ({ signal }) => api.getEgressTraffic({ org: orgId, conversation: conversation.id, signal }),
    staleTime: 0,
    refetchInterval: READ_MS,
  });
  const { data, error, refetch } = traffic;
  if (data === undefined)
    return error ? (
      <Failed error={error} retry={() => void refetch()} className="m-4" />
    ) : (
      <div role="status" aria-label={t('traffic.loading')} className="p-4">
        <SkeletonLines />
      </div>
    );
  return (
    <div className="flex h-full min-h-0 flex-col">
      {error === null ? null : (
        <Notice
          tone="warn"
          title={t('traffic.mayBeOutdated')}
          action={<Button onClick={() => void refetch()}>{t('common.retry')}</Button>}
          className="m-3"
        />
      )}
      {data.data.length === 0 ? (
        <EmptyState title={t('traffic.nothingYet')}>{t('traffic.hostsAppearHere')}</EmptyState>
      ) : (
        <Hosts traffic={data} />
      )}
    </div>
  );
}

function Hosts({ traffic }: { traffic: EgressTraffic }) {
  const t = useTranslations();
  const [text, setText] = useState('');
  const [shown, setShown] = useState<Shown>('all');
  const bodies = bodiesOfRows(traffic.data, traffic.bodies);
  const rows = shownOf(t, traffic.data, { text, shown });
  return (
    <>
      <section
        aria-label={t('traffic.whatLeft')}
        className="flex shrink-0 flex-col gap-2 border-b border-line px-4 py-3 text-sm"
      >
        <p className="font-medium tabular-nums">{totalText(t, traffic)}</p>
        {traffic.budget === null ? null : (
          <p
            className={`text-xs tabular-nums ${traffic.budget.spentBytes < traffic.budget.limitBytes ? 'text-ink-muted' : 'text-bad'}`}
          >
            {budgetText(t, traffic.budget)}
          </p>
        )}
        {traffic.refusedHosts === 0 ? null : (
          <p className="text-xs text-ink-muted">{t('traffic.neverReached', { hosts: traffic.refusedHosts })}</p>
        )}
        <div className="grid grid-cols-[minmax(0,1fr)_9rem] gap-2">
          <Input
            type="search"
            aria-label={t('traffic.filterHosts')}
            placeholder={t('traffic.filterHosts')}
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <Select
            aria-label={t('traffic.show')}
            value={shown}
            options={translated(t, SHOWN)}
            onChange={(value) => setShown(value as Shown)}
          />
        </div>
      </section>
      {rows.length === 0 ? (
        <EmptyState title={t('traffic.noneMatch')} />
      ) : (
        <ScrollBox label={t('traffic.hosts')} className="min-h-0 flex-1 overflow-auto">
          <ul aria-label={t('traffic.hosts')} className="divide-y divide-line">
            {rows.map((row) => (
              <Host key={keyOf(row)} row={row} bodies={bodies.get(row)} />
            ))}
          </ul>
          {traffic.data.length < MAX_TRAFFIC_ROWS ? null : (
            <p className="border-t border-line px-4 py-2 text-xs text-ink-muted">
              {t('traffic.onlyTheFirst', { count: MAX_TRAFFIC_ROWS })}
            </p>
          )}
        </ScrollBox>
      )}
    </>
  );
}

function Host({ row, bodies }: { row: EgressTrafficRow; bodies: EgressBodies | undefined }) {
  const t = useTranslations();
  const passed = row.admittedBy !== null;
  return (
    <li className="flex flex-col gap-1 px-4 py-2.5 text-sm">
      <div className="flex flex-wrap items-start justify-between gap-x-3 gap-y-1">
        <bdi dir="ltr" className="min-w-0 font-mono text-xs font-medium [overflow-wrap:anywhere]">
          {placeText(t, row)}
        </bdi>
        {passed ? (
          <span className="shrink-0 text-xs whitespace-nowrap tabular-nums">
            {t('traffic.sentAndReceived', { sent: bytes(row.bytesOut), received: bytes(row.bytesIn) })}
          </span>
        ) : (
          <Badge tone="bad">{t('traffic.refused')}</Badge>
        )}
      </div>
      <p className="text-xs text-ink-muted [overflow-wrap:anywhere]">
        {reasonText(t, row)}
        {' · '}
        {passed
          ? t('traffic.connections', { connections: row.connections, count: number(row.connections) })
          : t('traffic.attempts', { connections: row.connections, count: number(row.connections) })}
        {' · '}
        <Ago at={row.lastAt} />
      </p>
      {bodies === undefined ? null : <HostBodies bodies={bodies} />}
    </li>
  );
}

const keyOf = ({ host, port, refused, admittedBy }: EgressTrafficRow): string =>
  `${host} ${port} ${refused ?? ''} ${admittedBy?.kind ?? ''} ${admittedBy?.id ?? ''}`;
