'use client';
import { MAX_PROMPT_LENGTH, type QueuedMessage } from '@slipway/contracts/conversations';
import { Button, IconButton } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { ArrowDown, ArrowUp, Clock, Paperclip, Pencil, X, Zap } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { type KeyboardEvent, useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { isSendKey } from '../../browser/keys.ts';
import { useSession } from '../session/me.ts';
import { useConversation, useSlice } from './conversation-context.ts';
import { moved } from './queue-order.ts';

/** Messages that the agent has not taken in yet, next first. */
export function MessageQueue() {
  const t = useTranslations();
  const { store } = useConversation();
  const queue = useSlice(store.queue);
  if (queue.length === 0) return null;
  const held = queue.filter((message) => message.held === true);
  return (
    <ul aria-label={t('conversation.queuedMessages')} className="flex max-h-[30dvh] flex-col gap-1 overflow-auto">
      {queue.map((message) => (
        <QueuedLine key={message.id} message={message} held={held} />
      ))}
    </ul>
  );
}

function QueuedLine({ message, held }: { message: QueuedMessage; held: readonly QueuedMessage[] }) {
  const t = useTranslations();
  const { me, org } = useSession();
  const [edited, setEdited] = useState<{ text: string; version: number } | null>(null);
  const change = useQueueChanges(message);
  const queued = message.state === 'queued';
  const place = held.indexOf(message);
  const mine = message.createdById === me.id || org.permissions.includes('conversation:delete');
  const { version } = message;
  if (queued && edited !== null)
    return (
      <EditedLine
        {...edited}
        busy={change.busy}
        onChange={(text) => setEdited({ ...edited, text })}
        onSave={() => change.edit(edited, () => setEdited(null))}
        onCancel={() => setEdited(null)}
      />
    );
  return (
    <li className="flex flex-wrap items-center gap-x-2 rounded-md bg-raised py-0.5 pr-1 pl-2.5 text-sm">
      <Clock aria-hidden className="size-3.5 shrink-0 text-ink-muted" />
      <span className="shrink-0 text-xs text-ink-muted">
        {queued ? t('conversation.queued') : t('conversation.delivered')}
      </span>
      <span dir="auto" className="min-w-0 flex-1 basis-32 truncate" title={message.text.slice(0, 500)}>
        {message.text}
      </span>
      {message.attachments === undefined || message.attachments.length === 0 ? null : (
        <span
          className="flex shrink-0 items-center gap-1 text-xs text-ink-muted"
          title={message.attachments.map(({ name }) => name).join(', ')}
        >
          <Paperclip aria-hidden className="size-3.5" />
          <span className="sr-only">{t('attachments.attachedFiles')}</span> {message.attachments.length}
        </span>
      )}
      {queued ? (
        <span className="ml-auto flex items-center">
          {place === -1 || held.length < 2 ? null : (
            <>
              <LineButton
                label={t('conversation.moveUp')}
                disabled={place === 0}
                busy={change.busy}
                onClick={() => change.order(moved(held, place, -1))}
              >
                <ArrowUp aria-hidden />
              </LineButton>
              <LineButton
                label={t('conversation.moveDown')}
                disabled={place === held.length - 1}
                busy={change.busy}
                onClick={() => change.order(moved(held, place, 1))}
              >
                <ArrowDown aria-hidden />
              </LineButton>
            </>
          )}
          {version === undefined || !mine ? null : (
            <LineButton
              label={t('conversation.editMessage')}
              busy={change.busy}
              onClick={() => setEdited({ text: message.text, version })}
            >
              <Pencil aria-hidden />
            </LineButton>
          )}
          {place === -1 ? null : (
            <LineButton label={t('conversation.sendNow')} busy={change.busy} onClick={change.now}>
              <Zap aria-hidden />
            </LineButton>
          )}
          <LineButton label={t('conversation.withdrawMessage')} busy={change.busy} onClick={change.withdraw}>
            <X aria-hidden />
          </LineButton>
        </span>
      ) : (
        <span className="size-6" />
      )}
    </li>
  );
}

function LineButton({ busy, disabled = false, ...rest }: Omit<Parameters<typeof IconButton>[0], 'size' | 'side'>) {
  // `aria-disabled` keeps the focus where it is when a message reaches an end of the list.
  return (
    <IconButton
      {...rest}
      size="icon-small"
      side="top"
      aria-disabled={disabled || busy || undefined}
      className={disabled ? 'opacity-50' : ''}
      onClick={disabled || busy ? undefined : rest.onClick}
    />
  );
}

interface EditedLineProps {
  readonly text: string;
  readonly busy: boolean;
  readonly onChange: (text: string) => void;
  readonly onSave: () => void;
  readonly onCancel: () => void;
}

function EditedLine({ text, busy, onChange, onSave, onCancel }: EditedLineProps) {
  const t = useTranslations();
  const wrong = text.trim() === '' || text.length > MAX_PROMPT_LENGTH;
  const onKeyDown = (event: KeyboardEvent) => {
    const saves = isSendKey(event);
    if (!saves && event.key !== 'Escape') return;
    // The form around it would send what stands in the box.
    event.preventDefault();
    event.stopPropagation();
    if (!saves) onCancel();
    else if (!wrong && !busy) onSave();
  };
  return (
    <li className="flex flex-col gap-1.5 rounded-md bg-raised p-1.5 text-sm">
      <textarea
        // biome-ignore lint/a11y/noAutofocus: the user has pressed Edit, and the button that had the focus is gone
        autoFocus
        aria-label={t('conversation.queuedMessage')}
        aria-invalid={wrong || undefined}
        dir="auto"
        rows={2}
        value={text}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={onKeyDown}
        className="field-sizing-content max-h-[25dvh] w-full resize-none rounded-md border border-line-strong bg-surface px-2 py-1 touch:text-[16px]"
      />
      <span className="flex justify-end gap-2">
        <Button size="small" tone="quiet" onClick={onCancel}>
          {t('common.cancel')}
        </Button>
        <Button size="small" disabled={wrong} busy={busy} onClick={onSave}>
          {t('common.save')}
        </Button>
      </span>
    </li>
  );
}

interface QueueChanges {
  readonly busy: boolean;
  readonly edit: (body: { text: string; version: number }, done: () => void) => void;
  readonly order: (ids: readonly string[]) => void;
  readonly now: () => void;
  readonly withdraw: () => void;
}

/** Each shows at once in this browser; the others get it with the next frame of the queue. */
function useQueueChanges(message: QueuedMessage): QueueChanges {
  const { store, orgId, conversation } = useConversation();
  const of = { org: orgId, conversation: conversation.id };
  const put = (changed: QueuedMessage) =>
    store.queue.set(store.queue.get().map((each) => (each.id === changed.id ? changed : each)));
  const { mutate, isPending } = useMutation({
    mutationFn: (work: () => Promise<void>) => work(),
    onError: (error) => {
      const { title, detail, nextStep } = failureOf(error);
      toast.error(title, { description: [detail, nextStep].filter(Boolean).join(' ') });
    },
  });
  return {
    busy: isPending,
    edit: (body, done) =>
      mutate(async () => {
        put(await api.editMessage({ ...of, message: message.id, body }));
        done();
      }),
    order: (ids) =>
      mutate(async () => store.queue.set((await api.orderMessages({ ...of, body: { ids: [...ids] } })).data)),
    now: () =>
      mutate(async () => {
        const first = await api.deliverMessageNow({ ...of, message: message.id });
        store.queue.set([first, ...store.queue.get().filter(({ id }) => id !== first.id)]);
      }),
    withdraw: () =>
      mutate(async () => {
        await api.withdrawMessage({ ...of, message: message.id });
        store.queue.set(store.queue.get().filter(({ id }) => id !== message.id));
      }),
  };
}
