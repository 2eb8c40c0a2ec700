'use client';
import {
  type IntegrationConnection,
  type IntegrationDelivery,
  ListDeliveriesQuery,
} from '@slipway/contracts/integrations';
import { Badge, Button, EmptyState, Section, Select, Table } from '@slipway/ui';
import { RefreshCw } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { useAddressValue } from '../../browser/address.ts';
import { Ago } from '../../browser/ago.tsx';
import { type Option, translated } from '../../messages/translate.ts';
import { ListPanel } from '../list/list-panel.tsx';
import { usePages } from '../list/use-pages.ts';
import { useSession } from '../session/me.ts';
import { DELIVERY_STATES_SHOWN } from './connection-words.ts';
import { DecisionWords } from './decision-words.tsx';
import { DeliveryDialog } from './delivery-dialog.tsx';

const ANY = 'any';
const STATES: readonly Option[] = [
  { value: ANY, label: 'adminIntegrations.anyDecision' },
  ...Object.entries(DELIVERY_STATES_SHOWN).map(([value, { label }]) => ({ value, label })),
];
/** How often the log is read again while it is looked at. Milliseconds. */
const REFRESH_MS = 5_000;

/** What the provider delivered, and what came of it. */
export function Deliveries({ connection }: { connection: IntegrationConnection }) {
  const t = useTranslations();
  const { org } = useSession();
  const [filter, setFilter] = useAddressValue('state');
  const [opened, setOpened] = useAddressValue('delivery');
  const state = ListDeliveriesQuery.shape.state.safeParse(filter ?? undefined).data;
  const deliveries = usePages({
    key: ['deliveries', org.id, connection.id, state ?? ANY],
    read: (cursor, signal) =>
      api.listIntegrationDeliveries({
        org: org.id,
        connection: connection.id,
        query: { ...cursor, ...(state === undefined ? {} : { state }) },
        signal,
      }),
    refreshMs: REFRESH_MS,
  });
  const mayRead = org.permissions.includes('integration:write');
  return (
    <Section
      title={t('adminIntegrations.deliveries')}
      description={t('adminIntegrations.deliveriesOfTheLast14')}
      action={
        <Button onClick={deliveries.retry}>
          <RefreshCw aria-hidden /> {t('adminIntegrations.refresh')}
        </Button>
      }
    >
      <Select
        aria-label={t('adminIntegrations.decision')}
        className="w-44"
        options={translated(t, STATES)}
        value={state ?? ANY}
        onChange={(value) => setFilter(value === ANY ? null : value, 'push')}
      />
      <ListPanel
        list={deliveries}
        noun={t('adminIntegrations.deliveries2')}
        filtered={state === undefined ? null : () => setFilter(null)}
        empty={
          <EmptyState title={t('adminIntegrations.noDeliveriesYet')} className="rounded-lg border border-line">
            {t('adminIntegrations.deliveriesToTheAddressAbove')}
          </EmptyState>
        }
      >
        {(rows) => (
          <DeliveryTable
            rows={rows}
            orgSlug={org.slug}
            current={opened}
            onOpen={mayRead ? (id) => setOpened(id, 'push') : null}
          />
        )}
      </ListPanel>
      {opened === null || !mayRead ? null : (
        <DeliveryDialog connectionId={connection.id} id={opened} onClose={() => setOpened(null)} />
      )}
    </Section>
  );
}

function DeliveryTable({
  rows,
  orgSlug,
  current,
  onOpen,
}: {
  rows: readonly IntegrationDelivery[];
  orgSlug: string;
  current: string | null;
  onOpen: ((id: string) => void) | null;
}) {
  const t = useTranslations();
  return (
    <Table
      label={t('adminIntegrations.deliveries')}
      rows={rows}
      rowKey={(delivery) => delivery.id}
      current={current}
      columns={[
        {
          label: t('adminIntegrations.event'),
          phone: 'title',
          cell: (delivery) => <code className="font-mono text-sm break-all">{delivery.event}</code>,
        },
        {
          label: t('adminIntegrations.received'),
          className: 'md:whitespace-nowrap',
          cell: (delivery) => <Received delivery={delivery} />,
        },
        {
          label: t('adminIntegrations.decision'),
          className: 'md:min-w-72',
          cell: (delivery) => <DecisionWords delivery={delivery} className="max-md:justify-end" />,
        },
        {
          label: t('common.conversation'),
          cell: (delivery) =>
            delivery.conversationId === null ? (
              <span className="text-ink-muted">—</span>
            ) : (
              <Link
                href={`/${orgSlug}/conversations/${delivery.conversationId}`}
                className="py-0.5 text-accent underline underline-offset-2 touch:py-3"
                aria-label={t('adminIntegrations.conversationOf', { event: delivery.event })}
              >
                {t('common.open')}
              </Link>
            ),
        },
        {
          label: t('common.details'),
          unnamed: true,
          align: 'end',
          phone: 'actions',
          cell: (delivery) =>
            onOpen === null ? null : (
              <Button
                size="small"
                aria-label={t('adminIntegrations.detailsOf', { event: delivery.event })}
                onClick={() => onOpen(delivery.id)}
              >
                {t('common.details')}
              </Button>
            ),
        },
      ]}
    />
  );
}

/** One that had not come by itself says so. */
function Received({ delivery: { receivedAt, recoveredAt } }: { delivery: IntegrationDelivery }) {
  const t = useTranslations();
  return (
    <span className="flex flex-wrap items-center gap-2">
      <Ago at={receivedAt} />
      {recoveredAt === null ? null : <Badge tone="accent">{t('adminIntegrations.recovered')}</Badge>}
    </span>
  );
}
