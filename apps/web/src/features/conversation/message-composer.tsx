'use client';
import { type ConversationStatus, MAX_PROMPT_LENGTH } from '@slipway/contracts/conversations';
import { Button, cn, Kbd, Spinner } from '@slipway/ui';
import { CircleAlert } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { type SyntheticEvent, useId, useState } from 'react';
import { number } from '../../browser/format.ts';
import { isSendKey, SEND_KEY } from '../../browser/keys.ts';
import { WIDE } from '../../browser/media.ts';
import { useStored } from '../../browser/stored.ts';
import type { MessageKey } from '../../messages/translate.ts';
import { readsLikeYes } from '../approval/decisions.ts';
import { AttachButton } from '../attachments/attach-button.tsx';
import { AttachmentChips } from '../attachments/attachment-chips.tsx';
import { useAttachments } from '../attachments/use-attachments.ts';
import { useFileIntake } from '../attachments/use-file-intake.ts';
import { DraftNote } from '../draft/draft-note.tsx';
import { useDraft } from '../draft/use-draft.ts';
import { MentionChips } from '../mention/mention-chips.tsx';
import { MentionList } from '../mention/mention-list.tsx';
import { useFileMentions } from '../mention/use-file-mentions.ts';
import { mentionProps, useMentionBox } from '../mention/use-mention-box.ts';
import { useSuggestions } from '../mention/use-suggestions.ts';
import { PromptsKept } from '../prompt-log/prompts-kept.tsx';
import { useSession } from '../session/me.ts';
import { useConversation, useView } from './conversation-context.ts';
import { MessageQueue } from './message-queue.tsx';
import { RunChips } from './run-chips/run-chips.tsx';
import { type OutgoingMessages, useOutgoing } from './use-outgoing.ts';

/** What a message does now. */
const PLACEHOLDERS: Record<ConversationStatus, MessageKey> = {
  starting: 'conversation.addDetailsWhileItStarts',
  working: 'conversation.queueAMessageForThe',
  waiting: 'conversation.replyOrGiveTheNext',
  paused: 'conversation.sendAMessageToResume',
  finished: 'conversation.replyOrGiveTheNext',
  failed: 'conversation.sayWhatToDoDifferently',
  stopped: 'conversation.sayHowToContinue',
};

/** Where a message is written, for who may write one; everybody else reads who can. */
export function MessageComposer() {
  const t = useTranslations();
  const { org } = useSession();
  if (org.permissions.includes('conversation:write')) return <Composer />;
  return (
    <p className="shrink-0 border-t border-line bg-surface px-4 py-3 text-sm text-ink-muted md:px-6">
      <span className="mx-auto block max-w-3xl">{t('conversation.youHaveViewAccessTo', { name: org.name })}</span>
    </p>
  );
}

/** Open from the first second: what is sent early waits in the queue, in order. */
function Composer() {
  const t = useTranslations();
  const { conversation, orgId } = useConversation();
  const status = useView((view) => view.status);
  const key = `slipway.message.${conversation.id}`;
  const [text, setText] = useStored(key, '');
  const attachments = useAttachments(orgId, conversation.id);
  const outgoing = useOutgoing((unsent, files) => {
    setText((now) => (now === '' ? unsent : `${unsent}\n\n${now}`));
    attachments.giveBack(files);
  });
  const sending = outgoing.messages.length > 0;
  const draft = useDraft({ orgId, subject: conversation.id, key, text, setText, sending });
  const intake = useFileIntake(attachments);
  const mention = useMentionBox();
  const files = useFileMentions(text, mention.token);
  const suggestions = useSuggestions(mention.token, files.found);
  const asText = (pasted: string) => setText((now) => (now === '' ? pasted : `${now}\n${pasted}`));
  const waits = useView((view) => view.state.execution === 'waiting_for_confirmation');
  /** The message that is not sent before the user has said that it may reject what waits. */
  const [asked, setAsked] = useState<string | null>(null);
  const tooLong = text.length > MAX_PROMPT_LENGTH;
  const send = () => {
    setAsked(null);
    setText('');
    outgoing.send(text.trim() === '' ? t('attachments.lookAtThem') : text, attachments.take());
  };
  const isEmpty = text.trim() === '' && attachments.files.length === 0;
  const unsendable = isEmpty || tooLong || !attachments.ready;
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (unsendable) return;
    if (waits) setAsked(text);
    else send();
  };
  return (
    <form
      onSubmit={submit}
      onKeyDown={(event) => isSendKey(event) && submit(event)}
      aria-label={t('conversation.messageToTheAgent')}
      className="shrink-0 border-t border-line bg-surface px-4 py-2.5 md:px-6"
      {...intake.drop}
    >
      <div className="mx-auto flex max-w-3xl flex-col gap-2">
        <MessageQueue />
        <OutgoingList outgoing={outgoing} />
        <DraftNote draft={draft} onTake={(other) => setText((now) => (now === '' ? other : `${now}\n\n${other}`))} />
        {waits && asked !== null && asked === text ? (
          <RejectingMessage message={asked} onSend={send} onKeep={() => setAsked(null)} />
        ) : null}
        <AttachmentChips attachments={attachments} onText={asText} />
        {attachments.files.some(({ error }) => error !== undefined) ? (
          <p className="text-xs text-ink-muted">{t('attachments.waitForFiles')}</p>
        ) : null}
        <MentionList side="above" box={mention} suggestions={suggestions} />
        <div
          className={cn(
            'flex items-end gap-2 rounded-lg border bg-surface py-1.5 pr-1.5 pl-1 focus-within:border-accent',
            intake.over ? 'border-accent border-dashed' : 'border-line-strong',
          )}
        >
          <AttachButton onFiles={attachments.add} />
          <label className="min-w-0 flex-1">
            <span className="sr-only">{t('conversation.message')}</span>
            <textarea
              // biome-ignore lint/a11y/noAutofocus: who opens a conversation is about to say something; a phone would cover half of it with its keyboard
              autoFocus={window.matchMedia(WIDE).matches}
              {...mentionProps(mention, suggestions)}
              value={text}
              onChange={(event) => setText(event.target.value)}
              onPaste={intake.onPaste}
              rows={1}
              placeholder={
                intake.over
                  ? t('attachments.dropHere')
                  : waits
                    ? t('conversation.sayWhatToDoInstead')
                    : t(PLACEHOLDERS[status])
              }
              dir="auto"
              aria-invalid={tooLong || undefined}
              className="field-sizing-content block max-h-[35dvh] min-h-8 w-full resize-none bg-transparent py-[5px] text-base outline-none placeholder:text-ink-muted touch:min-h-11 touch:py-[11px] touch:text-[16px]"
            />
          </label>
          <Button type="submit" tone="primary" disabled={unsendable}>
            {t('conversation.send')} <Kbd className="max-sm:hidden">{SEND_KEY}</Kbd>
          </Button>
        </div>
        <MentionChips text={text} files={files.checks} />
        {tooLong ? (
          <p role="alert" className="text-xs text-bad">
            {t('conversation.charactersTheLimitIsPut', { count: number(text.length), max: number(MAX_PROMPT_LENGTH) })}
          </p>
        ) : null}
        <RunChips />
        <PromptsKept />
      </div>
    </form>
  );
}

/** What a message would do while actions wait for approval, before it is sent. */
function RejectingMessage({ message, onSend, onKeep }: { message: string; onSend: () => void; onKeep: () => void }) {
  const t = useTranslations();
  const words = useId();
  return (
    <div
      role="alertdialog"
      aria-labelledby={words}
      className="flex flex-wrap items-center gap-2 rounded-md border border-line-strong bg-warn-soft px-3 py-2 text-sm"
    >
      <p id={words} className="min-w-0 flex-1 basis-72">
        {readsLikeYes(message)
          ? t('conversation.aMessageRejectsTheRequested')
          : t('conversation.sendingThisRejectsTheRequested')}
      </p>
      <Button size="small" autoFocus onClick={onKeep}>
        {t('conversation.doNotSend')}
      </Button>
      <Button size="small" tone="danger" onClick={onSend}>
        {t('conversation.rejectAndSend')}
      </Button>
    </div>
  );
}

/** Messages that the server has not said it has. */
function OutgoingList({ outgoing: { messages, retry, discard } }: { outgoing: OutgoingMessages }) {
  const t = useTranslations();
  if (messages.length === 0) return null;
  return (
    <ul aria-label={t('conversation.messagesBeingSent')} className="flex max-h-40 flex-col gap-1 overflow-auto">
      {messages.map((message) => (
        <li
          key={message.id}
          className={cn(
            'flex flex-wrap items-center gap-2 rounded-md py-0.5 pr-1 pl-2.5 text-sm',
            message.busy ? 'bg-raised' : 'bg-bad-soft',
          )}
        >
          {message.busy ? (
            <Spinner className="size-3.5 shrink-0" />
          ) : (
            <CircleAlert aria-hidden className="size-3.5 shrink-0 text-bad" />
          )}
          <span className={cn('shrink-0 text-xs', message.busy ? 'text-ink-muted' : 'text-bad')}>
            {message.busy ? t('conversation.sending') : t('conversation.notSent')}
          </span>
          <span dir="auto" className="min-w-0 flex-1 basis-40 truncate" title={message.text.slice(0, 500)}>
            {message.text}
          </span>
          {message.busy ? (
            <span className="h-7 w-1" />
          ) : (
            <>
              <Button size="small" onClick={() => retry(message)}>
                {t('common.retry')}
              </Button>
              <Button size="small" tone="quiet" onClick={() => discard(message.id)}>
                {t('conversation.discard')}
              </Button>
              {message.error === undefined ? null : (
                <p role="alert" className="basis-full pb-1 text-xs text-ink">
                  {message.error}
                </p>
              )}
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
