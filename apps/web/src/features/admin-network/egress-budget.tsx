'use client';
import { type OrgSettings, UpdateOrgSettings } from '@slipway/contracts/organizations';
import { Button, Field, Input, Section } from '@slipway/ui';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { useVersionedForm } from '../form/use-versioned-form.ts';
import { VersionedFailure } from '../form/versioned-failure.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';

const BUDGETS = ['egressDailyMb', 'egressDailyMbPerHost'] as const;
type Values = Record<(typeof BUDGETS)[number], string>;

const valuesOf = (settings: OrgSettings): Values => ({
  egressDailyMb: settings.egressDailyMb?.toString() ?? '',
  egressDailyMbPerHost: settings.egressDailyMbPerHost?.toString() ?? '',
});
const megabytesOf = (typed: string): number | null => (typed.trim() === '' ? null : Number(typed));

/** What the sandbox of one conversation may send on a day. */
export function EgressBudget() {
  const t = useTranslations();
  const { org } = useSession();
  const settings = useQuery({
    queryKey: ['org-settings', org.id],
    queryFn: ({ signal }) => api.getOrgSettings({ org: org.id, signal }),
  });
  return (
    <Section title={t('adminNetwork.egressBudget')} description={t('adminNetwork.egressBudgetDescription')}>
      <QueryPanel query={settings} label={t('adminNetwork.theSettings')}>
        {(read) => <BudgetForm settings={read} reread={async () => (await settings.refetch()).data} />}
      </QueryPanel>
    </Section>
  );
}

function BudgetForm({ settings, reread }: { settings: OrgSettings; reread: () => Promise<OrgSettings | undefined> }) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const mayChange = org.permissions.includes('setting:write');
  const form = useVersionedForm({
    latest: settings,
    valuesOf,
    schema: UpdateOrgSettings,
    requestOf: (values) => ({
      egressDailyMb: megabytesOf(values.egressDailyMb),
      egressDailyMbPerHost: megabytesOf(values.egressDailyMbPerHost),
    }),
    send: (body, version) => api.updateOrgSettings({ org: org.id, body, ifMatch: version }),
    onDone: (answer) => {
      toast(t('adminNetwork.budgetSaved'));
      queries.setQueryData(['org-settings', org.id], answer);
    },
  });
  const field = (name: (typeof BUDGETS)[number], label: string, hint: string) => (
    <Field label={label} hint={hint} error={form.error(name)}>
      {(control) => (
        <Input
          {...control}
          inputMode="numeric"
          disabled={!mayChange}
          value={form.values[name]}
          placeholder={t('adminNetwork.noLimit')}
          onChange={(event) => form.set(name, event.target.value)}
        />
      )}
    </Field>
  );
  return (
    <form {...form.props} className="flex max-w-2xl flex-col gap-4">
      <div className="grid gap-4 sm:grid-cols-2">
        {field('egressDailyMb', t('adminNetwork.toAllHosts'), t('adminNetwork.emptyIsNoLimit'))}
        {field('egressDailyMbPerHost', t('adminNetwork.toOneDomain'), t('adminNetwork.toOneDomainHint'))}
      </div>
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
