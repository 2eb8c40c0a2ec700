'use client';
import type { OrgSettings } from '@slipway/contracts/organizations';
import type { ReactNode } from 'react';
import { OrgSettingsForm } from './org-settings-form.tsx';
import { RadioChoice } from './radio-choice.tsx';

/** Settings of an organization that are one of a few words. */
type Setting = 'egressUnknown' | 'egressAnswered' | 'secretsInSandbox';

interface OrgSettingChoiceProps<K extends Setting> {
  readonly setting: K;
  readonly title: string;
  readonly description: string;
  /** In the order in which they are shown. */
  readonly choices: ReadonlyArray<{
    readonly value: OrgSettings[K];
    readonly label: string;
    readonly means: string;
  }>;
  readonly saved: string;
  readonly onSaved?: () => void;
  /** Shown before a choice is saved. */
  readonly before?: (chosen: OrgSettings[K]) => ReactNode;
}

/** A section of Admin with one setting of the organization. */
export function OrgSettingChoice<K extends Setting>(props: OrgSettingChoiceProps<K>) {
  const { setting, title, description, choices, saved, onSaved, before } = props;
  return (
    <OrgSettingsForm
      title={title}
      description={description}
      saved={saved}
      onSaved={onSaved}
      valuesOf={(values): { chosen: OrgSettings[K] } => ({ chosen: values[setting] })}
      requestOf={({ chosen }) => ({ [setting]: chosen })}
    >
      {(form, mayChange) => (
        <>
          <fieldset className="flex flex-col gap-2" disabled={!mayChange}>
            <legend className="sr-only">{title}</legend>
            {choices.map(({ value, label, means }) => (
              <RadioChoice
                key={value}
                name={setting}
                label={label}
                means={means}
                checked={form.values.chosen === value}
                onChoose={() => form.set('chosen', value)}
              />
            ))}
          </fieldset>
          {form.changed ? before?.(form.values.chosen) : null}
        </>
      )}
    </OrgSettingsForm>
  );
}
