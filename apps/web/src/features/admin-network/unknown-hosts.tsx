'use client';
import { type OrgSettings, UpdateOrgSettings } from '@slipway/contracts/organizations';
import { EGRESS_UNKNOWN } from '@slipway/contracts/sandboxes';
import { Button, Section } from '@slipway/ui';
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

const WORDS: Record<OrgSettings['egressUnknown'], { readonly label: MessageKey; readonly means: MessageKey }> = {
  ask: { label: 'adminNetwork.askAUser', means: 'adminNetwork.askMeans' },
  refuse: { label: 'adminNetwork.refuseAlways', means: 'adminNetwork.refuseMeans' },
};

/** What becomes of a connection that no rule is about. */
export function UnknownHosts() {
  const t = useTranslations();
  const { org } = useSession();
  const settings = useQuery({
    queryKey: ['org-settings', org.id],
    queryFn: ({ signal }) => api.getOrgSettings({ org: org.id, signal }),
  });
  return (
    <Section title={t('adminNetwork.unknownHosts')} description={t('adminNetwork.whenAHostIsNotListed')}>
      <QueryPanel query={settings} label={t('adminNetwork.theSettings')}>
        {(read) => <UnknownForm settings={read} reread={async () => (await settings.refetch()).data} />}
      </QueryPanel>
    </Section>
  );
}

function UnknownForm({ settings, reread }: { settings: OrgSettings; reread: () => Promise<OrgSettings | undefined> }) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const mayChange = org.permissions.includes('setting:write');
  const form = useVersionedForm({
    latest: settings,
    valuesOf: ({ egressUnknown }) => ({ egressUnknown }),
    schema: UpdateOrgSettings,
    requestOf: (values) => values,
    send: (body, version) => api.updateOrgSettings({ org: org.id, body, ifMatch: version }),
    onDone: (saved) => {
      toast(t('adminNetwork.settingSaved'));
      queries.setQueryData(['org-settings', org.id], saved);
    },
  });
  return (
    <form {...form.props} className="flex max-w-2xl flex-col gap-3">
      <fieldset className="flex flex-col gap-2" disabled={!mayChange}>
        <legend className="sr-only">{t('adminNetwork.unknownHosts')}</legend>
        {EGRESS_UNKNOWN.toReversed().map((value) => (
          <RadioChoice
            key={value}
            name="egress-unknown"
            label={t(WORDS[value].label)}
            means={t(WORDS[value].means)}
            checked={form.values.egressUnknown === value}
            onChoose={() => form.set('egressUnknown', value)}
          />
        ))}
      </fieldset>
      <VersionedFailure
        failure={form.failure}
        what={t('adminNetwork.theSettings2')}
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
