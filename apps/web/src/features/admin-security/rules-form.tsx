'use client';
import { type SecurityRules, UpdateSecurityRules } from '@slipway/contracts';
import { Button, Checkbox, Field, Section, Select } from '@slipway/ui';
import { useQuery, useQueryClient } from '@tanstack/react-query';
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
  const { org } = useSession();
  const rules = useQuery({ queryKey: ['security-rules', org.id], queryFn: ({ signal }) => api.getSecurityRules({ org: org.id, signal }) });
  return (
    <Section
      title="Sign-ins"
      description="What this organization asks of the sign-ins of its members. Who does not fulfil it signs in again; their other organizations, and API keys, are not affected."
    >
      <QueryPanel query={rules} label="The rules">
        {(read) => <RulesForm rules={read} reread={async () => (await rules.refetch()).data} />}
      </QueryPanel>
    </Section>
  );
}

function RulesForm({ rules, reread }: { rules: SecurityRules; reread: () => Promise<SecurityRules | undefined> }) {
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
      toast('The rules are saved, and hold within two seconds.');
      queries.setQueryData(['security-rules', org.id], saved);
      await queries.invalidateQueries({ queryKey: ['member-sessions', org.id] });
    },
  });
  const { values } = form;
  return (
    <form {...form.props} className="flex max-w-xl flex-col gap-4">
      <Field label="A sign-in is good for" hint="Since the person proved who they are." error={form.error('sessionMaxMinutes')}>
        {(control) => (
          <Select
            {...control}
            className="max-w-64"
            disabled={!mayChange}
            options={lengthOptions(MAX_LENGTHS, minutesOf(values.sessionMaxMinutes), NO_RULE, 'As long as it lasts')}
            value={values.sessionMaxMinutes}
            onChange={(value) => form.set('sessionMaxMinutes', value)}
          />
        )}
      </Field>
      <Field label="Unused, it ends after" hint="Reading along without a click counts as unused." error={form.error('sessionIdleMinutes')}>
        {(control) => (
          <Select
            {...control}
            className="max-w-64"
            disabled={!mayChange}
            options={lengthOptions(IDLE_LENGTHS, minutesOf(values.sessionIdleMinutes), NO_RULE, 'No rule')}
            value={values.sessionIdleMinutes}
            onChange={(value) => form.set('sessionIdleMinutes', value)}
          />
        )}
      </Field>
      <Checkbox
        label="Members sign in with a second factor"
        hint="A code of an authenticator, a key: what the sign-in service says of the sign-in counts. You need to have signed in with one yourself."
        disabled={!mayChange}
        checked={values.secondFactor}
        onChange={(secondFactor) => form.set('secondFactor', secondFactor)}
      />
      <VersionedFailure failure={form.failure} what="the rules" reread={() => void reread().then((read) => read && form.take(read))} />
      {mayChange ? (
        <Button type="submit" tone="primary" className="self-start" busy={form.busy} disabled={!form.changed}>
          Save
        </Button>
      ) : null}
    </form>
  );
}
