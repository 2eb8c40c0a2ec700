'use client';
import { type OrgSettings, UpdateOrgSettings } from '@slipway/contracts/organizations';
import { Button, Section } from '@slipway/ui';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { RadioChoice } from './radio-choice.tsx';
import { useVersionedForm } from './use-versioned-form.ts';
import { VersionedFailure } from './versioned-failure.tsx';

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
  /** What the panel loads, and what was changed elsewhere, in words. */
  readonly loads: string;
  readonly what: string;
  readonly saved: string;
  readonly onSaved?: () => void;
  /** Shown before a choice is saved. */
  readonly before?: (chosen: OrgSettings[K]) => ReactNode;
}

/** A section of Admin with one setting of the organization; whoever may not change it reads it. */
export function OrgSettingChoice<K extends Setting>(props: OrgSettingChoiceProps<K>) {
  const { org } = useSession();
  const settings = useQuery({
    queryKey: ['org-settings', org.id],
    queryFn: ({ signal }) => api.getOrgSettings({ org: org.id, signal }),
  });
  return (
    <Section title={props.title} description={props.description}>
      <QueryPanel query={settings} label={props.loads}>
        {(read) => <ChoiceForm {...props} settings={read} reread={async () => (await settings.refetch()).data} />}
      </QueryPanel>
    </Section>
  );
}

function ChoiceForm<K extends Setting>({
  settings,
  reread,
  setting,
  title,
  choices,
  what,
  saved,
  onSaved,
  before,
}: OrgSettingChoiceProps<K> & {
  readonly settings: OrgSettings;
  readonly reread: () => Promise<OrgSettings | undefined>;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const mayChange = org.permissions.includes('setting:write');
  const form = useVersionedForm({
    latest: settings,
    valuesOf: (values): { chosen: OrgSettings[K] } => ({ chosen: values[setting] }),
    schema: UpdateOrgSettings,
    requestOf: ({ chosen }) => ({ [setting]: chosen }),
    send: (body, version) => api.updateOrgSettings({ org: org.id, body, ifMatch: version }),
    onDone: (answer) => {
      toast(saved);
      queries.setQueryData(['org-settings', org.id], answer);
      onSaved?.();
    },
  });
  const { chosen } = form.values;
  return (
    <form {...form.props} className="flex max-w-2xl flex-col gap-3">
      <fieldset className="flex flex-col gap-2" disabled={!mayChange}>
        <legend className="sr-only">{title}</legend>
        {choices.map(({ value, label, means }) => (
          <RadioChoice
            key={value}
            name={setting}
            label={label}
            means={means}
            checked={chosen === value}
            onChoose={() => form.set('chosen', value)}
          />
        ))}
      </fieldset>
      {form.changed ? before?.(chosen) : null}
      <VersionedFailure
        failure={form.failure}
        what={what}
        reread={() => void reread().then((read) => read && form.take(read))}
      />
      {mayChange ? (
        <Button type="submit" tone="primary" className="self-start" busy={form.busy} disabled={!form.changed}>
          {t('common.save')}
        </Button>
      ) : null}
    </form>
  );
}
