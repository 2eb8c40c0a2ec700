'use client';
import { Field, Select } from '@slipway/ui';
import { useThemeChoice } from '../settings/use-theme-choice.ts';

const THEMES = [
  { value: 'system', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

export function ThemeField() {
  const [theme, choose] = useThemeChoice();
  return (
    <div className="rounded-lg border border-line bg-surface p-4">
      <Field label="Theme">
        {(control) => <Select {...control} className="max-w-52" options={THEMES} value={theme} onChange={choose} suppressHydrationWarning />}
      </Field>
    </div>
  );
}
