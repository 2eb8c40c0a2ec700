'use client';
import { type DeliveryDryRun, type IntegrationDeliveryContent, MAX_SHOWN_BODY } from '@slipway/contracts';
import { Button, Dialog, ScrollBox } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import Link from 'next/link';
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
export function DeliveryDialog({ connectionId, id, onClose }: { connectionId: string; id: string; onClose: () => void }) {
  const { org } = useSession();
  const delivery = useQuery({
    queryKey: ['deliveries', org.id, connectionId, 'one', id],
    queryFn: ({ signal }) => api.getIntegrationDelivery({ org: org.id, connection: connectionId, delivery: id, signal }),
    // A body may be large, and is of one look.
    gcTime: 0,
    refetchInterval: ({ state }) => (state.data?.state === 'received' ? DECIDED_SOON_MS : false),
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={delivery.data === undefined ? 'Delivery' : delivery.data.event}
      className="w-[min(760px,calc(100vw-32px))]"
    >
      <div className="p-4">
        <QueryPanel query={delivery} label="The delivery">
          {(data) => <Content delivery={data} />}
        </QueryPanel>
      </div>
    </Dialog>
  );
}

function Content({ delivery }: { delivery: IntegrationDeliveryContent }) {
  const { org } = useSession();
  const queries = useQueryClient();
  const where = { org: org.id, connection: delivery.connectionId, delivery: delivery.id };
  const dryRun = useMutation({ mutationFn: () => api.dryRunIntegrationDelivery(where) });
  const redeliver = useMutation({
    mutationFn: () => api.redeliverIntegrationDelivery(where),
    onSuccess: ({ state }) => {
      toast(state === 'done' ? 'It was acted on already: nothing is repeated.' : 'It is decided once more.');
      void queries.invalidateQueries({ queryKey: ['deliveries', org.id, delivery.connectionId] });
    },
  });
  return (
    <div className="flex flex-col gap-4">
      <DecisionWords delivery={delivery} />
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
        <Line name="Received">{exactTime(delivery.receivedAt)}</Line>
        <Line name="Decided">{delivery.decidedAt === null ? 'not yet' : exactTime(delivery.decidedAt)}</Line>
        <Line name="Delivery id">
          <code className="font-mono text-xs break-all">{delivery.deliveryId}</code>
        </Line>
        <Line name="Deed">{delivery.semanticKey === null ? 'none' : <code className="font-mono text-xs break-all">{delivery.semanticKey}</code>}</Line>
        <Line name="Size">{bytes(delivery.bytes)}</Line>
        <Line name="Looked at">{delivery.attempts === 1 ? 'once' : `${number(delivery.attempts)} times`}</Line>
        {delivery.conversationId === null ? null : (
          <Line name="Conversation">
            <ConversationLink id={delivery.conversationId} />
          </Line>
        )}
      </dl>
      <div className="flex flex-wrap gap-2">
        <Button busy={dryRun.isPending} onClick={() => dryRun.mutate()}>
          Dry run
        </Button>
        <Button busy={redeliver.isPending} onClick={() => redeliver.mutate()}>
          Redeliver
        </Button>
      </div>
      <p className="text-xs text-ink-muted">
        A dry run shows what it would come to now and writes nothing. Redeliver decides once more by what holds now; what was acted on is not repeated.
      </p>
      <ErrorNotice error={redeliver.error} />
      <ErrorNotice error={dryRun.error} />
      <div aria-live="polite">{dryRun.data === undefined ? null : <DryRun result={dryRun.data} />}</div>
      <Text label="Headers" text={headerLines(delivery)} />
      <Text
        label="Body"
        text={readableBody(delivery.body)}
        copied={delivery.body}
        note={delivery.bodyCut ? `Only its first ${number(MAX_SHOWN_BODY)} characters are shown.` : null}
      />
    </div>
  );
}

/** What a delivery would come to now. */
function DryRun({ result }: { result: DeliveryDryRun }) {
  const { decision, reading, user, conversationId } = result;
  return (
    <section aria-label="Dry run" className="flex flex-col gap-2 rounded-lg border border-line-strong bg-raised p-3">
      <h3 className="text-sm font-semibold">What it would come to now</h3>
      <DecisionWords delivery={{ state: decision.state, reason: decision }} />
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
        {linesOfReading(reading).map(({ name, text, href }) => (
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
        <Line name="User here">{user === null ? 'nobody: the account is not linked' : user.label}</Line>
        <Line name="Conversation">{conversationId === null ? 'none of this thread yet' : <ConversationLink id={conversationId} />}</Line>
      </dl>
      {decision.code === 'permission-unknown' ? (
        <p className="text-xs text-ink-muted">A dry run does not ask the provider, so rights there count as unknown. Redeliver asks.</p>
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
function Text({ label, text, copied = text, note = null }: { label: string; text: string; copied?: string; note?: string | null }) {
  return (
    <section aria-label={label} className="flex flex-col gap-1">
      <div className="flex items-center justify-between">
        <h3 className="text-xs font-medium text-ink-muted">{label}</h3>
        <CopyButton label={`Copy: ${label}`} text={() => copied} />
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
