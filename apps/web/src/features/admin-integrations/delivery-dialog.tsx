'use client';
import { type DeliveryDryRun, type IntegrationDeliveryContent, MAX_SHOWN_BODY } from '@slipway/contracts/integrations';
import { Button, Dialog, ScrollBox } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { CopyButton } from '../../browser/copy-button.tsx';
import { bytes, exactTime, number } from '../../browser/format.ts';
import { visibleText } from '../conversation/visible-text.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { DecisionWords } from './decision-words.tsx';
import { linesOfReading, readableBody } from './reading-words.ts';

/** How often a delivery that is not decided yet is read again. Milliseconds. */
const DECIDED_SOON_MS = 2_000;

/** One delivery whole: what was sent, what was decided, what it would come to now. */
export function DeliveryDialog({
  connectionId,
  id,
  onClose,
}: {
  connectionId: string;
  id: string;
  onClose: () => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const delivery = useQuery({
    queryKey: ['deliveries', org.id, connectionId, 'one', id],
    queryFn: ({ signal }) =>
      api.getIntegrationDelivery({ org: org.id, connection: connectionId, delivery: id, signal }),
    // A body may be large, and is of one look.
    gcTime: 0,
    refetchInterval: ({ state }) => (state.data?.state === 'received' ? DECIDED_SOON_MS : false),
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={delivery.data === undefined ? t('adminIntegrations.delivery') : delivery.data.event}
      className="w-[min(760px,calc(100vw-32px))]"
    >
      <div className="p-4">
        <QueryPanel query={delivery} label={t('adminIntegrations.theDelivery')}>
          {(data) => <Content delivery={data} />}
        </QueryPanel>
      </div>
    </Dialog>
  );
}

function Content({ delivery }: { delivery: IntegrationDeliveryContent }) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const where = { org: org.id, connection: delivery.connectionId, delivery: delivery.id };
  const dryRun = useMutation({ mutationFn: () => api.dryRunIntegrationDelivery(where) });
  const redeliver = useMutation({
    mutationFn: () => api.redeliverIntegrationDelivery(where),
    onSuccess: ({ state }) => {
      toast(
        state === 'done'
          ? t('adminIntegrations.alreadyHandledNothingWasRepeated')
          : t('adminIntegrations.theDeliveryIsHandledAgain'),
      );
      void queries.invalidateQueries({ queryKey: ['deliveries', org.id, delivery.connectionId] });
    },
  });
  return (
    <div className="flex flex-col gap-4">
      <DecisionWords delivery={delivery} />
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
        <Line name={t('adminIntegrations.received')}>{exactTime(delivery.receivedAt)}</Line>
        <Line name={t('adminIntegrations.decided')}>
          {delivery.decidedAt === null ? t('adminIntegrations.notYet') : exactTime(delivery.decidedAt)}
        </Line>
        <Line name={t('adminIntegrations.deliveryId')}>
          <code className="font-mono text-xs break-all">{delivery.deliveryId}</code>
        </Line>
        <Line name={t('adminIntegrations.action')}>
          {delivery.semanticKey === null ? (
            t('common.none2')
          ) : (
            <code className="font-mono text-xs break-all">{delivery.semanticKey}</code>
          )}
        </Line>
        <Line name={t('adminIntegrations.size')}>{bytes(delivery.bytes)}</Line>
        <Line name={t('adminIntegrations.processed')}>
          {t('adminIntegrations.times', { attempts: delivery.attempts })}
        </Line>
        {delivery.conversationId === null ? null : (
          <Line name={t('common.conversation')}>
            <ConversationLink id={delivery.conversationId} />
          </Line>
        )}
      </dl>
      <div className="flex flex-wrap gap-2">
        <Button busy={dryRun.isPending} onClick={() => dryRun.mutate()}>
          {t('adminIntegrations.dryRun')}
        </Button>
        <Button busy={redeliver.isPending} onClick={() => redeliver.mutate()}>
          {t('adminIntegrations.redeliver')}
        </Button>
      </div>
      <p className="text-xs text-ink-muted">{t('adminIntegrations.aDryRunShowsThe')}</p>
      <ErrorNotice error={redeliver.error} />
      <ErrorNotice error={dryRun.error} />
      <div aria-live="polite">{dryRun.data === undefined ? null : <DryRun result={dryRun.data} />}</div>
      <Text label={t('adminIntegrations.headers')} text={headerLines(delivery)} />
      <Text
        label={t('adminIntegrations.body')}
        text={readableBody(delivery.body)}
        copied={delivery.body}
        note={
          delivery.bodyCut ? t('adminIntegrations.onlyTheFirstCharactersAre', { max: number(MAX_SHOWN_BODY) }) : null
        }
      />
    </div>
  );
}

/** What a delivery would come to now. */
function DryRun({ result }: { result: DeliveryDryRun }) {
  const t = useTranslations();
  const { decision, reading, user, conversationId } = result;
  return (
    <section
      aria-label={t('adminIntegrations.dryRun')}
      className="flex flex-col gap-2 rounded-lg border border-line-strong bg-raised p-3"
    >
      <h3 className="text-sm font-semibold">{t('adminIntegrations.outcomeNow')}</h3>
      <DecisionWords delivery={{ state: decision.state, reason: decision }} />
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
        {linesOfReading(t, reading).map(({ name, text, href }) => (
          <Line key={name} name={name}>
            {href === undefined ? (
              <span className="line-clamp-6 whitespace-pre-wrap">{visibleText(text)}</span>
            ) : (
              <a href={href} target="_blank" rel="noreferrer" className="text-accent underline underline-offset-2">
                {visibleText(text)}
              </a>
            )}
          </Line>
        ))}
        <Line name={t('adminIntegrations.user')}>
          {user === null ? t('adminIntegrations.noneTheAccountIsNot') : user.label}
        </Line>
        <Line name={t('common.conversation')}>
          {conversationId === null ? (
            t('adminIntegrations.noneForThisThreadYet')
          ) : (
            <ConversationLink id={conversationId} />
          )}
        </Line>
      </dl>
      {decision.code === 'permission-unknown' ? (
        <p className="text-xs text-ink-muted">{t('adminIntegrations.aDryRunDoesNot')}</p>
      ) : null}
    </section>
  );
}

function ConversationLink({ id }: { id: string }) {
  const { org } = useSession();
  return (
    <Link href={`/${org.slug}/conversations/${id}`} className="text-accent underline underline-offset-2">
      {id.slice(0, 8)}
    </Link>
  );
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-muted">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}

/** What came from outside: always text, never a page. */
function Text({
  label,
  text,
  copied = text,
  note = null,
}: {
  label: string;
  text: string;
  copied?: string;
  note?: string | null;
}) {
  const t = useTranslations();
  return (
    <section aria-label={label} className="flex flex-col gap-1">
      <div className="flex items-center justify-between">
        <h3 className="text-xs font-medium text-ink-muted">{label}</h3>
        <CopyButton label={t('adminIntegrations.copy', { label })} text={() => copied} />
      </div>
      <ScrollBox label={label} className="max-h-72 overflow-auto rounded-md border border-line bg-raised p-3">
        <pre className="font-mono text-xs break-all whitespace-pre-wrap">{visibleText(text)}</pre>
      </ScrollBox>
      {note === null ? null : <p className="text-xs text-ink-muted">{note}</p>}
    </section>
  );
}

function headerLines({ headers }: IntegrationDeliveryContent): string {
  return Object.entries(headers)
    .flatMap(([name, value]) => (typeof value === 'string' ? [value] : value).map((each) => `${name}: ${each}`))
    .join('\n');
}
