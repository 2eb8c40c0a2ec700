'use client';
import { CreateLlmProfile, type LlmProfile, UpdateLlmProfile } from '@slipway/contracts/models';
import { Button, Checkbox, Dialog, Field, Input } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';

interface Given {
  /** `null`: a new one. */
  readonly profile: LlmProfile | null;
  readonly onClose: () => void;
  readonly onDone: (profile: LlmProfile) => void;
}

export function ProfileDialog(given: Given) {
  const t = useTranslations();
  return (
    <Dialog
      open
      onOpenChange={(open) => open || given.onClose()}
      title={given.profile === null ? t('adminModels.newProfile') : t('common.edit2', { name: given.profile.name })}
    >
      <ProfileForm {...given} />
    </Dialog>
  );
}

function ProfileForm({ profile, onClose, onDone }: Given) {
  const t = useTranslations();
  const { org } = useSession();
  const form = useForm({
    initial: {
      name: profile?.name ?? '',
      model: profile?.model ?? '',
      baseUrl: profile?.baseUrl ?? '',
      apiKey: '',
      temperature: profile?.temperature?.toString() ?? '',
      maxOutputTokens: profile?.maxOutputTokens?.toString() ?? '',
      default: profile?.default ?? false,
    },
    schema: profile === null ? CreateLlmProfile : UpdateLlmProfile,
    requestOf: ({ baseUrl, apiKey, temperature, maxOutputTokens, ...values }) => ({
      ...values,
      baseUrl: baseUrl.trim() === '' ? null : baseUrl.trim(),
      temperature: temperature.trim() === '' ? null : Number(temperature),
      maxOutputTokens: maxOutputTokens.trim() === '' ? null : Number(maxOutputTokens),
      // Left empty the key that is kept stays.
      ...(apiKey === '' ? {} : { apiKey }),
    }),
    send: (body) =>
      profile === null
        ? api.createLlmProfile({ org: org.id, body: body as CreateLlmProfile })
        : api.updateLlmProfile({ org: org.id, profile: profile.id, body: body as UpdateLlmProfile }),
    onDone,
  });
  const { values } = form;
  const text = (
    name: 'name' | 'model' | 'baseUrl' | 'temperature' | 'maxOutputTokens',
    label: string,
    more: { hint?: string; placeholder?: string } = {},
  ) => (
    <Field label={label} {...(more.hint === undefined ? {} : { hint: more.hint })} error={form.error(name)}>
      {(control) => (
        <Input
          {...control}
          value={values[name]}
          placeholder={more.placeholder}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => form.set(name, event.target.value)}
        />
      )}
    </Field>
  );
  return (
    <form {...form.props} className="flex flex-col gap-4 p-4">
      {text('name', t('common.name'), {
        hint: t('adminModels.shownInTheModelList'),
        placeholder: t('adminModels.ourClaude'),
      })}
      {text('model', t('common.model'), {
        hint: t('adminModels.withTheProviderAsPrefix'),
        placeholder: 'anthropic/claude-opus-4-6',
      })}
      {text('baseUrl', t('common.address'), {
        hint: t('adminModels.leaveEmptyForTheProviders'),
        placeholder: 'https://models.example.com/v1',
      })}
      <Field
        label={t('adminModels.apiKey')}
        hint={profile?.hasApiKey === true ? t('adminModels.aKeyIsStoredAnd') : t('adminModels.itIsNeverShownAgain')}
        error={form.error('apiKey')}
      >
        {(control) => (
          <Input
            {...control}
            type="password"
            value={values.apiKey}
            autoComplete="off"
            spellCheck={false}
            className="font-mono"
            onChange={(event) => form.set('apiKey', event.target.value)}
          />
        )}
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        {text('temperature', t('adminModels.temperature'), { hint: t('adminModels.leaveEmptyForTheModels') })}
        {text('maxOutputTokens', t('adminModels.maxOutputTokens'), {
          hint: t('adminModels.leaveEmptyForTheModelsDefault'),
        })}
      </div>
      <Checkbox
        label={t('adminModels.useAsDefaultForNew')}
        checked={values.default}
        onChange={(checked) => form.set('default', checked)}
      />
      <FormFailure failure={form.failure} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('common.cancel')}</Button>
        <Button type="submit" tone="primary" busy={form.busy}>
          {profile === null ? t('adminModels.addProfile') : t('common.save')}
        </Button>
      </div>
    </form>
  );
}
