'use client';
import { AskConversation } from '@slipway/contracts/conversations';
import { Button, Dialog, Field, Textarea } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { type SyntheticEvent, useState } from 'react';
import { api, newId } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { sentenceOf } from '../../api/sentence.ts';
import { isSendKey } from '../../browser/keys.ts';
import { useConversation } from '../conversation/conversation-context.ts';
import { Markdown } from '../conversation/markdown.tsx';

/** A question that the agent answers from what it knows, while its task goes on. It is not in the log. */
export function AskDialog({ onClose }: { onClose: () => void }) {
  const t = useTranslations();
  const { conversation, orgId } = useConversation();
  const [question, setQuestion] = useState('');
  const ask = useMutation({
    mutationFn: (body: AskConversation) =>
      api.askConversation({ org: orgId, conversation: conversation.id, body, idempotencyKey: newId() }),
  });
  const parsed = AskConversation.safeParse({ question });
  const failure = ask.isError ? failureOf(ask.error) : null;
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (parsed.success && !ask.isPending) ask.mutate(parsed.data);
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('beside.askASideQuestion2')}
      description={t('beside.theAgentAnswersFromWhat')}
    >
      <form
        onSubmit={submit}
        onKeyDown={(event) => isSendKey(event) && submit(event)}
        className="flex flex-col gap-4 p-4"
      >
        <Field
          label={t('beside.question')}
          error={
            failure === null
              ? null
              : sentenceOf(t, [failure.title, failure.detail, failure.nextStep].filter(Boolean).join('. '))
          }
        >
          {(control) => (
            <Textarea
              {...control}
              data-autofocus
              rows={3}
              maxLength={20_000}
              value={question}
              placeholder={t('beside.whatHaveYouTriedSo')}
              onChange={(event) => setQuestion(event.target.value)}
            />
          )}
        </Field>
        {ask.isSuccess ? (
          <section
            aria-label={t('beside.answer')}
            aria-live="polite"
            className="max-h-[45dvh] overflow-auto rounded-md border border-line bg-raised px-3 py-2 text-sm"
          >
            <Markdown text={ask.data.answer} />
          </section>
        ) : null}
        <div className="flex justify-end gap-2">
          <Button tone="quiet" onClick={onClose}>
            {t('common.close')}
          </Button>
          <Button type="submit" tone="primary" busy={ask.isPending} disabled={!parsed.success}>
            {t('beside.ask')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
