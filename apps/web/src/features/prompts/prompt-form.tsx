'use client';
import {
  CreatePrompt,
  MAX_PROMPT_DESCRIPTION_LENGTH,
  MAX_PROMPT_NAME_LENGTH,
  MAX_SAVED_PROMPT_LENGTH,
  type Prompt,
  UpdatePrompt,
} from '@slipway/contracts/conversations';
import { Button, Dialog, Field, Input, Select, Textarea } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { FormFailure } from '../form/form-failure.tsx';
import { type Form, useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';

interface FormProps {
  /** `null`: a new one. */
  readonly prompt: Prompt | null;
  readonly onClose: () => void;
  readonly onDone: (prompt: Prompt) => void;
}

export function PromptDialog({ open, ...form }: FormProps & { open: boolean }) {
  const t = useTranslations();
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => next || form.onClose()}
      title={form.prompt === null ? t('prompts.new') : t('prompts.editTitle', { name: form.prompt.name })}
    >
      <PromptForm {...form} />
    </Dialog>
  );
}

interface PromptValues {
  name: string;
  description: string;
  text: string;
  scope: string;
}

function PromptForm({ prompt, onClose, onDone }: FormProps) {
  const t = useTranslations();
  const { org } = useSession();
  const form = useForm({
    initial: {
      name: prompt?.name ?? '',
      description: prompt?.description ?? '',
      text: prompt?.text ?? '',
      scope: prompt?.scope ?? 'user',
    } as PromptValues,
    schema: prompt === null ? CreatePrompt : UpdatePrompt,
    requestOf: ({ scope, ...values }) => (prompt === null ? { ...values, scope } : values),
    send: (body) =>
      prompt === null
        ? api.createPrompt({ org: org.id, body: body as CreatePrompt })
        : api.updatePrompt({ org: org.id, prompt: prompt.id, body }),
    onDone,
  });
  return (
    <form {...form.props} className="flex flex-col gap-4 p-4">
      <WordFields form={form} />
      <Field
        label={t('prompts.text')}
        hint={t('prompts.textHint', { example: '{{field}}' })}
        error={form.error('text')}
      >
        {(control) => (
          <Textarea
            {...control}
            rows={8}
            dir="auto"
            value={form.values.text}
            maxLength={MAX_SAVED_PROMPT_LENGTH}
            className="max-h-[40dvh] min-h-32"
            onChange={(event) => form.set('text', event.target.value)}
          />
        )}
      </Field>
      {prompt === null && org.permissions.includes('prompt:manage') ? (
        <Field label={t('prompts.whoCanUseIt')} hint={t('prompts.scopeStays')} error={form.error('scope')}>
          {(control) => (
            <Select
              {...control}
              value={form.values.scope}
              options={[
                { value: 'user', label: t('prompts.onlyYou') },
                { value: 'org', label: t('prompts.allMembers', { name: org.name }) },
              ]}
              onChange={(scope) => form.set('scope', scope)}
            />
          )}
        </Field>
      ) : null}
      <FormFailure failure={form.failure} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('common.cancel')}</Button>
        <Button type="submit" tone="primary" busy={form.busy}>
          {prompt === null ? t('prompts.create') : t('common.save')}
        </Button>
      </div>
    </form>
  );
}

function WordFields({ form }: { form: Form<PromptValues> }) {
  const t = useTranslations();
  return (
    <>
      <Field label={t('common.name')} hint={t('prompts.nameHint')} error={form.error('name')}>
        {(control) => (
          <Input
            {...control}
            value={form.values.name}
            placeholder={t('prompts.namePlaceholder')}
            maxLength={MAX_PROMPT_NAME_LENGTH}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            className="font-mono"
            onChange={(event) => form.set('name', event.target.value)}
          />
        )}
      </Field>
      <Field label={t('prompts.shortDescription')} error={form.error('description')}>
        {(control) => (
          <Input
            {...control}
            value={form.values.description}
            maxLength={MAX_PROMPT_DESCRIPTION_LENGTH}
            autoComplete="off"
            dir="auto"
            onChange={(event) => form.set('description', event.target.value)}
          />
        )}
      </Field>
    </>
  );
}
