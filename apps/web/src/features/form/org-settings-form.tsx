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
import { useVersionedForm, type VersionedForm } from './use-versioned-form.ts';
import { VersionedFailure } from './versioned-failure.tsx';

interface OrgSettingsFormProps<Values extends object> {
  readonly title: string;
  readonly description: string;
  readonly valuesOf: (settings: OrgSettings) => Values;
  readonly requestOf: (values: Values) => unknown;
  /** Shown once they are saved. */
  readonly saved: string;
  readonly onSaved?: (() => void) | undefined;
  /** The fields. */
  readonly children: (form: VersionedForm<OrgSettings, Values>, mayChange: boolean) => ReactNode;
}

/** A section of Admin with some settings of the organization; whoever may not change them reads them. */
export function OrgSettingsForm<Values extends object>(props: OrgSettingsFormProps<Values>) {
  const t = useTranslations();
  const { org } = useSession();
  const settings = useQuery({
    queryKey: ['org-settings', org.id],
    queryFn: ({ signal }) => api.getOrgSettings({ org: org.id, signal }),
  });
  return (
    <Section title={props.title} description={props.description}>
      <QueryPanel query={settings} label={t('common.theSettings')}>
        {(read) => <SettingsForm {...props} settings={read} reread={async () => (await settings.refetch()).data} />}
      </QueryPanel>
    </Section>
  );
}

function SettingsForm<Values extends object>({
  settings,
  reread,
  valuesOf,
  requestOf,
  saved,
  onSaved,
  children,
}: OrgSettingsFormProps<Values> & {
  readonly settings: OrgSettings;
  readonly reread: () => Promise<OrgSettings | undefined>;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const mayChange = org.permissions.includes('setting:write');
  const form = useVersionedForm({
    latest: settings,
    valuesOf,
    schema: UpdateOrgSettings,
    requestOf,
    send: (body, version) => api.updateOrgSettings({ org: org.id, body, ifMatch: version }),
    onDone: (answer) => {
      toast(saved);
      queries.setQueryData(['org-settings', org.id], answer);
      onSaved?.();
    },
  });
  return (
    <form {...form.props} className="flex max-w-2xl flex-col gap-4">
      {children(form, mayChange)}
      <VersionedFailure
        failure={form.failure}
        what={t('common.theSettings2')}
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
