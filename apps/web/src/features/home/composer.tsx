'use client';
import { NEW_TASK } from '@slipway/contracts/conversations';
import { Button, Card, cn, Field, Kbd, Select } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useEffect } from 'react';
import { api } from '../../api/client.ts';
import { useHydrated } from '../../browser/hydrated.ts';
import { isSendKey, SendKey } from '../../browser/keys.ts';
import { WIDE } from '../../browser/media.ts';
import { AttachButton } from '../attachments/attach-button.tsx';
import { AttachmentChips } from '../attachments/attachment-chips.tsx';
import type { Attachments } from '../attachments/use-attachments.ts';
import { type FileIntake, useFileIntake } from '../attachments/use-file-intake.ts';
import { DraftNote } from '../draft/draft-note.tsx';
import { useDraft } from '../draft/use-draft.ts';
import { MentionChips } from '../mention/mention-chips.tsx';
import { MentionList } from '../mention/mention-list.tsx';
import { mentionProps, useMentionBox } from '../mention/use-mention-box.ts';
import { useSuggestions } from '../mention/use-suggestions.ts';
import { PromptsKept } from '../prompt-log/prompts-kept.tsx';
import { useSession } from '../session/me.ts';
import { draftKey } from './draft.ts';
import { ExampleTasks } from './example-tasks.tsx';
import { HowFar } from './how-far.tsx';
import { RepositoryFields } from './repository-fields.tsx';
import { useStartTask } from './use-start-task.ts';

/** There is no workspace before the task: none can be looked for. */
const NO_FILES: ReadonlyMap<string, boolean> = new Map();

export function Composer() {
  const t = useTranslations();
  const { org } = useSession();
  const { draft, change, attachments, errors, failure, isSending, form, submit } = useStartTask();
  const intake = useFileIntake(attachments);
  const kept = useDraft({
    orgId: org.id,
    subject: NEW_TASK,
    key: draftKey(org.id),
    text: draft.prompt,
    setText: (prompt) => change({ prompt }),
    sending: isSending,
  });

  return (
    <form
      ref={form}
      noValidate
      onSubmit={submit}
      onKeyDown={(event) => isSendKey(event) && submit(event)}
      aria-label={t('common.newTask')}
      className="flex flex-col gap-3"
    >
      <Card
        className={cn(
          'flex flex-col shadow-float focus-within:border-line-strong',
          intake.over && 'border-accent border-dashed',
        )}
        {...intake.drop}
      >
        <PromptField
          prompt={draft.prompt}
          error={errors['prompt'] ?? null}
          intake={intake}
          onChange={(prompt) => change({ prompt })}
        />
        <TaskFiles
          attachments={attachments}
          onText={(pasted) => change({ prompt: draft.prompt === '' ? pasted : `${draft.prompt}\n${pasted}` })}
        />
        <div className="grid gap-3 border-t border-line px-4 pt-2.5 pb-3 sm:grid-cols-[minmax(0,2fr)_minmax(0,1fr)] lg:grid-cols-[minmax(0,1.7fr)_minmax(0,0.9fr)_232px]">
          <RepositoryFields draft={draft} change={change} errors={errors} />
          <ModelField model={draft.model} error={errors['model'] ?? null} onChange={(model) => change({ model })} />
        </div>
        <HowFar draft={draft} change={change} errors={errors} />
        <div className="flex items-center justify-between gap-2 border-t border-line py-2.5 pr-4 pl-2">
          <AttachButton onFiles={attachments.add} />
          <div className="min-w-0 flex-1">
            <p className="text-xs text-ink-muted">{t('home.theAgentWorksInAn')}</p>
            <PromptsKept />
          </div>
          <Button type="submit" tone="primary" busy={isSending} disabled={!attachments.ready}>
            {t('common.start')}{' '}
            <Kbd className="max-sm:hidden">
              <SendKey />
            </Kbd>
          </Button>
        </div>
      </Card>
      <DraftNote
        draft={kept}
        onTake={(other) => change({ prompt: draft.prompt === '' ? other : `${draft.prompt}\n\n${other}` })}
      />
      {failure ? (
        <div role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm">
          <p className="font-medium text-bad">{failure.title}</p>
          <p className="break-words">{[failure.detail, failure.nextStep].filter(Boolean).join(' ')}</p>
        </div>
      ) : null}
      <ExampleTasks choose={(prompt) => change({ prompt })} />
    </form>
  );
}

/** Files that go with the task, and why it cannot be sent while one of them is not there. */
function TaskFiles({ attachments, onText }: { attachments: Attachments; onText: (text: string) => void }) {
  const t = useTranslations();
  if (attachments.files.length === 0) return null;
  return (
    <div className="flex flex-col gap-1.5 px-4 pb-2.5">
      <AttachmentChips attachments={attachments} onText={onText} />
      {attachments.files.some(({ error }) => error !== undefined) ? (
        <p className="text-xs text-ink-muted">{t('attachments.waitForFiles')}</p>
      ) : null}
    </div>
  );
}

function ModelField({
  model,
  error,
  onChange,
}: {
  model: string;
  error: string | null;
  onChange: (model: string) => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const models = useQuery({
    queryKey: ['models', org.id],
    queryFn: ({ signal }) => api.listModels({ org: org.id, signal }),
    staleTime: 60_000,
  });
  const options = (models.data?.data ?? []).map((each) => ({
    value: each.id,
    label: each.demo ? t('home.demoScriptedNotAnAi') : each.label,
  }));
  const chosen = options.some((option) => option.value === model)
    ? model
    : (models.data?.data.find((each) => each.default)?.id ?? options[0]?.value ?? '');
  return (
    <Field
      label={t('common.model')}
      error={error ?? (models.isError ? t('home.theModelsCouldNotBe') : null)}
      className="sm:col-span-2 lg:col-span-1"
    >
      {(control) => (
        <Select {...control} options={options} value={chosen} onChange={onChange} disabled={options.length === 0} />
      )}
    </Field>
  );
}

function PromptField({
  prompt,
  error,
  intake,
  onChange,
}: {
  prompt: string;
  error: string | null;
  intake: FileIntake;
  onChange: (prompt: string) => void;
}) {
  const t = useTranslations();
  const mention = useMentionBox();
  const suggestions = useSuggestions(mention.token, null);
  const { ref: field } = mention.box;
  const hydrated = useHydrated();
  // Writing it is what the page is for; a phone would cover half of it with its keyboard.
  useEffect(() => {
    if (hydrated && window.matchMedia(WIDE).matches) field.current?.focus();
  }, [hydrated, field]);
  return (
    <>
      <label className="flex flex-col">
        <span className="sr-only">{t('home.task')}</span>
        <textarea
          dir="auto"
          {...mentionProps(mention, suggestions)}
          value={prompt}
          onChange={(event) => onChange(event.target.value)}
          onPaste={intake.onPaste}
          placeholder={intake.over ? t('attachments.dropHere') : t('home.whatShouldTheAgentDo')}
          rows={4}
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? 'prompt-error' : undefined}
          className="field-sizing-content max-h-[45dvh] min-h-28 w-full resize-none rounded-t-lg bg-transparent px-4 py-3 text-base outline-offset-[-2px] placeholder:text-ink-muted touch:text-[16px]"
        />
      </label>
      <MentionList side="below" box={mention} suggestions={suggestions} />
      <MentionChips text={prompt} files={NO_FILES} className="px-4 pb-2" />
      {error ? (
        <p id="prompt-error" className="px-4 pb-2 text-xs text-bad">
          {error}
        </p>
      ) : null}
    </>
  );
}
