'use client';
import { type OrgSettings, UpdateOrgSettings } from '@slipway/contracts/organizations';
import { Button, Notice, Section } from '@slipway/ui';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import type { MessageKey } from '../../messages/translate.ts';
import { RadioChoice } from '../form/radio-choice.tsx';
import { useVersionedForm } from '../form/use-versioned-form.ts';
import { VersionedFailure } from '../form/versioned-failure.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';

const CHOICES: ReadonlyArray<{
  readonly value: OrgSettings['secretsInSandbox'];
  readonly label: MessageKey;
  readonly means: MessageKey;
}> = [
  { value: 'allowed', label: 'adminCredentials.allowed', means: 'adminCredentials.allowedMeans' },
  { value: 'brokered-only', label: 'adminCredentials.brokeredOnly', means: 'adminCredentials.brokeredOnlyMeans' },
];
/** Names of the preview that are shown; the rest is counted. */
const SHOWN_NAMES = 20;

/** Whether sandboxes are given the values of secrets. */
export function SecretsInSandbox() {
  const t = useTranslations();
  const { org } = useSession();
  const settings = useQuery({
    queryKey: ['org-settings', org.id],
    queryFn: ({ signal }) => api.getOrgSettings({ org: org.id, signal }),
  });
  return (
    <Section title={t('adminCredentials.inSandboxes')} description={t('adminCredentials.inSandboxesAre')}>
      <QueryPanel query={settings} label={t('adminCredentials.theSettings')}>
        {(read) => <SettingForm settings={read} reread={async () => (await settings.refetch()).data} />}
      </QueryPanel>
    </Section>
  );
}

function SettingForm({ settings, reread }: { settings: OrgSettings; reread: () => Promise<OrgSettings | undefined> }) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const mayChange = org.permissions.includes('setting:write');
  const form = useVersionedForm({
    latest: settings,
    valuesOf: ({ secretsInSandbox }) => ({ secretsInSandbox }),
    schema: UpdateOrgSettings,
    requestOf: (values) => values,
    send: (body, version) => api.updateOrgSettings({ org: org.id, body, ifMatch: version }),
    onDone: (saved) => {
      toast(t('adminCredentials.settingSaved'));
      queries.setQueryData(['org-settings', org.id], saved);
    },
  });
  const takes = form.changed && form.values.secretsInSandbox === 'brokered-only';
  return (
    <form {...form.props} className="flex max-w-2xl flex-col gap-3">
      <fieldset className="flex flex-col gap-2" disabled={!mayChange}>
        <legend className="sr-only">{t('adminCredentials.inSandboxes')}</legend>
        {CHOICES.map(({ value, label, means }) => (
          <RadioChoice
            key={value}
            name="secrets-in-sandbox"
            label={t(label)}
            means={t(means)}
            checked={form.values.secretsInSandbox === value}
            onChoose={() => form.set('secretsInSandbox', value)}
          />
        ))}
      </fieldset>
      {takes ? <Withheld /> : null}
      <VersionedFailure
        failure={form.failure}
        what={t('adminCredentials.theSettings2')}
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

/** What agents no longer get, before it is saved. */
function Withheld() {
  const t = useTranslations();
  const { org } = useSession();
  const preview = useQuery({
    queryKey: ['credentials-preview', org.id],
    queryFn: ({ signal }) => api.previewBrokeredOnly({ org: org.id, signal }),
  });
  return (
    <QueryPanel query={preview} label={t('adminCredentials.preview')}>
      {({ data, count, personal }) => {
        if (count === 0) return <Notice>{t('adminCredentials.nothingIsWithheld')}</Notice>;
        const shown = data.slice(0, SHOWN_NAMES);
        const left = count - personal - shown.length;
        return (
          <Notice tone="warn" title={t('adminCredentials.withheld', { count })}>
            <ul className="flex flex-wrap gap-x-3 gap-y-1 py-1 text-xs">
              {shown.map(({ id, name }) => (
                <li key={id}>
                  <code className="font-mono break-all">{name}</code>
                </li>
              ))}
              {left > 0 ? <li>{t('adminCredentials.andMore', { count: left })}</li> : null}
              {personal > 0 ? <li>{t('adminCredentials.personalOnes', { count: personal })}</li> : null}
            </ul>
            <p>{t('adminCredentials.withheldMeans')}</p>
          </Notice>
        );
      }}
    </QueryPanel>
  );
}
