'use client';
import { Field, Select } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { type Option, translated } from '../../messages/translate.ts';
import { useThemeChoice } from '../settings/use-theme-choice.ts';

const THEMES: readonly Option[] = [
  { value: 'system', label: 'settingsProfile.system' },
  { value: 'light', label: 'settingsProfile.light' },
  { value: 'dark', label: 'settingsProfile.dark' },
];

export function ThemeField() {
  const t = useTranslations();
  const [theme, choose] = useThemeChoice();
  return (
    <div className="rounded-lg border border-line bg-surface p-4">
      <Field label={t('settingsProfile.theme')}>
        {(control) => (
          <Select
            {...control}
            className="max-w-52"
            options={translated(t, THEMES)}
            value={theme}
            onChange={choose}
            suppressHydrationWarning
          />
        )}
      </Field>
    </div>
  );
}
