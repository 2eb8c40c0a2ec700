'use client';
import { type SecurityRules, UpdateSecurityRules } from '@slipway/contracts/organizations';
import { Button, Checkbox, Field, Section, Select } from '@slipway/ui';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { useVersionedForm } from '../form/use-versioned-form.ts';
import { VersionedFailure } from '../form/versioned-failure.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { lengthOptions } from './lengths.ts';

const NO_RULE = 'none';
/** What is offered. Minutes. */
const MAX_LENGTHS = [60, 240, 480, 720, 1_440, 10_080, 20_160];
const IDLE_LENGTHS = [15, 30, 60, 240, 720, 1_440, 10_080];

interface Values {
  sessionMaxMinutes: string;
  sessionIdleMinutes: string;
  secondFactor: boolean;
}
const textOf = (minutes: number | null): string => (minutes === null ? NO_RULE : String(minutes));
const valuesOf = (rules: SecurityRules): Values => ({
  sessionMaxMinutes: textOf(rules.sessionMaxMinutes),
  sessionIdleMinutes: textOf(rules.sessionIdleMinutes),
  secondFactor: rules.secondFactor,
});
const minutesOf = (value: string): number | null => (value === NO_RULE ? null : Number(value));

/** What the organization asks of the sign-ins by which its members come. */
export function Rules() {
  const t = useTranslations();
  const { org } = useSession();
  const rules = useQuery({
    queryKey: ['security-rules', org.id],
    queryFn: ({ signal }) => api.getSecurityRules({ org: org.id, signal }),
  });
  return (
    <Section title={t('adminSecurity.signIns')} description={t('adminSecurity.signInRequirementsForMembers')}>
      <QueryPanel query={rules} label={t('adminSecurity.theRules')}>
        {(read) => <RulesForm rules={read} reread={async () => (await rules.refetch()).data} />}
      </QueryPanel>
    </Section>
  );
}

function RulesForm({ rules, reread }: { rules: SecurityRules; reread: () => Promise<SecurityRules | undefined> }) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const mayChange = org.permissions.includes('security:write');
  const form = useVersionedForm({
    latest: rules,
    valuesOf,
    schema: UpdateSecurityRules,
    requestOf: (values) => ({
      sessionMaxMinutes: minutesOf(values.sessionMaxMinutes),
      sessionIdleMinutes: minutesOf(values.sessionIdleMinutes),
      secondFactor: values.secondFactor,
    }),
    send: (body, version) => api.updateSecurityRules({ org: org.id, body, ifMatch: version }),
    onDone: async (saved) => {
      toast(t('adminSecurity.rulesSavedTheyApplyWithin'));
      queries.setQueryData(['security-rules', org.id], saved);
      await queries.invalidateQueries({ queryKey: ['member-sessions', org.id] });
    },
  });
  const { values } = form;
  return (
    <form {...form.props} className="flex max-w-xl flex-col gap-4">
      <Field
        label={t('adminSecurity.maximumSessionLength')}
        hint={t('adminSecurity.countedFromTheLastSign')}
        error={form.error('sessionMaxMinutes')}
      >
        {(control) => (
          <Select
            {...control}
            className="max-w-64"
            disabled={!mayChange}
            options={lengthOptions(t, {
              offered: MAX_LENGTHS,
              present: minutesOf(values.sessionMaxMinutes),
              none: NO_RULE,
              noneLabel: t('adminSecurity.noLimit'),
            })}
            value={values.sessionMaxMinutes}
            onChange={(value) => form.set('sessionMaxMinutes', value)}
          />
        )}
      </Field>
      <Field
        label={t('adminSecurity.idleTimeout')}
        hint={t('adminSecurity.watchingWithoutClickingCountsAs')}
        error={form.error('sessionIdleMinutes')}
      >
        {(control) => (
          <Select
            {...control}
            className="max-w-64"
            disabled={!mayChange}
            options={lengthOptions(t, {
              offered: IDLE_LENGTHS,
              present: minutesOf(values.sessionIdleMinutes),
              none: NO_RULE,
              noneLabel: t('adminSecurity.noTimeout'),
            })}
            value={values.sessionIdleMinutes}
            onChange={(value) => form.set('sessionIdleMinutes', value)}
          />
        )}
      </Field>
      <Checkbox
        label={t('adminSecurity.requireASecondFactor')}
        hint={t('adminSecurity.anAuthenticatorCodeOrA')}
        disabled={!mayChange}
        checked={values.secondFactor}
        onChange={(secondFactor) => form.set('secondFactor', secondFactor)}
      />
      <VersionedFailure
        failure={form.failure}
        what={t('adminSecurity.theRules2')}
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
