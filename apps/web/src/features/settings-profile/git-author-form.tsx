'use client';
import { type MySettings, UpdateMySettings } from '@slipway/contracts/identity';
import { Button, Field, Input } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { toast } from 'sonner';
import { FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { useMe } from '../session/me.ts';
import { useSaveMySettings } from '../settings/use-my-settings.ts';

/** Empty means: as the account says. */
export function GitAuthorForm({ settings }: { settings: MySettings }) {
  const t = useTranslations();
  const me = useMe().data;
  const save = useSaveMySettings();
  const form = useForm({
    initial: { gitAuthorName: settings.gitAuthorName ?? '', gitAuthorEmail: settings.gitAuthorEmail ?? '' },
    schema: UpdateMySettings,
    requestOf: ({ gitAuthorName, gitAuthorEmail }) => ({
      gitAuthorName: gitAuthorName.trim() || null,
      gitAuthorEmail: gitAuthorEmail.trim() || null,
    }),
    send: (body) => save(body),
    onDone: () => void toast.success(t('settingsProfile.settingsSaved')),
  });
  return (
    <form {...form.props} className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-4">
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label={t('settingsProfile.authorName')} error={form.error('gitAuthorName')}>
          {(control) => (
            <Input
              {...control}
              autoComplete="name"
              placeholder={me?.name ?? ''}
              value={form.values.gitAuthorName}
              onChange={(event) => form.set('gitAuthorName', event.target.value)}
            />
          )}
        </Field>
        <Field label={t('settingsProfile.authorEmail')} error={form.error('gitAuthorEmail')}>
          {(control) => (
            <Input
              {...control}
              type="email"
              autoComplete="email"
              placeholder={me?.email ?? ''}
              value={form.values.gitAuthorEmail}
              onChange={(event) => form.set('gitAuthorEmail', event.target.value)}
            />
          )}
        </Field>
      </div>
      <FormFailure failure={form.failure} />
      <Button type="submit" className="self-start" busy={form.busy}>
        {t('common.save')}
      </Button>
    </form>
  );
}
