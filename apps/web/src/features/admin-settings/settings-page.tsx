'use client';
import { ConfirmationMode, type OrgSettings, UpdateOrgSettings } from '@slipway/contracts';
import { Button, Checkbox, Field, Input, Select } from '@slipway/ui';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { ASKING } from '../approval/asking.ts';
import { useVersionedForm } from '../form/use-versioned-form.ts';
import { VersionedFailure } from '../form/versioned-failure.tsx';
import { Page } from '../frame/page.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';

const NO_MODEL = '';
const USUAL_PROMPT_DAYS = 7;

interface Values {
  defaultModel: string;
  defaultEnvironment: string;
  maxIterations: string;
  memberSecrets: boolean;
  confirmation: ConfirmationMode;
  fourEyes: boolean;
  keepsPrompts: boolean;
  promptLogDays: string;
  analytics: boolean;
}
const valuesOf = (settings: OrgSettings): Values => ({
  defaultModel: settings.defaultModel ?? NO_MODEL,
  defaultEnvironment: settings.defaultEnvironment ?? '',
  maxIterations: settings.maxIterations === null ? '' : String(settings.maxIterations),
  memberSecrets: settings.memberSecrets,
  confirmation: settings.confirmation,
  fourEyes: settings.fourEyes,
  keepsPrompts: settings.promptLogDays !== null,
  promptLogDays: String(settings.promptLogDays ?? USUAL_PROMPT_DAYS),
  analytics: settings.analytics,
});
const given = (typed: string): string | null => (typed.trim() === '' ? null : typed.trim());

export function SettingsPage() {
  const { org } = useSession();
  const settings = useQuery({ queryKey: ['org-settings', org.id], queryFn: ({ signal }) => api.getOrgSettings({ org: org.id, signal }) });
  return (
    <Page narrow title="Settings" description="What holds for every conversation of this organization that does not say otherwise.">
      <QueryPanel query={settings} label="The settings">
        {(read) => <SettingsForm settings={read} reread={async () => (await settings.refetch()).data} />}
      </QueryPanel>
    </Page>
  );
}

function usageHint(host: string | null): string {
  if (host === null) return 'This installation sends no usage data.';
  return `Sent to ${host}: which steps members take, with counts, times, cost and names of models. Never prompts, code, names or repositories. Only for members who share usage data in their own settings. Turning it off deletes what waits to be sent.`;
}

function SettingsForm({ settings, reread }: { settings: OrgSettings; reread: () => Promise<OrgSettings | undefined> }) {
  const { me, org } = useSession();
  const queries = useQueryClient();
  const models = useQuery({ queryKey: ['models', org.id], queryFn: ({ signal }) => api.listModels({ org: org.id, signal }) });
  const mayChange = org.permissions.includes('setting:write');
  const ownsPrompts = org.permissions.includes('prompt-log:write');
  const form = useVersionedForm({
    latest: settings,
    valuesOf,
    schema: UpdateOrgSettings,
    requestOf: (values) => ({
      defaultModel: given(values.defaultModel),
      defaultEnvironment: given(values.defaultEnvironment),
      maxIterations: values.maxIterations.trim() === '' ? null : Number(values.maxIterations),
      memberSecrets: values.memberSecrets,
      confirmation: values.confirmation,
      fourEyes: values.fourEyes,
      analytics: values.analytics,
      ...(ownsPrompts ? { promptLogDays: values.keepsPrompts ? Number(values.promptLogDays) : null } : {}),
    }),
    send: (body, version) => api.updateOrgSettings({ org: org.id, body, ifMatch: version }),
    onDone: (saved) => {
      toast('The settings are saved.');
      queries.setQueryData(['org-settings', org.id], saved);
    },
  });
  const { values } = form;
  const known = models.data?.data ?? [];
  const options = [
    { value: NO_MODEL, label: 'The installation’s own default' },
    ...known.map(({ id, label }) => ({ value: id, label })),
    ...(values.defaultModel === NO_MODEL || known.some(({ id }) => id === values.defaultModel)
      ? []
      : [{ value: values.defaultModel, label: `${values.defaultModel} (not offered now)` }]),
  ];
  return (
    <form {...form.props} className="flex flex-col gap-4">
      <Field label="Model of a task that names none" error={form.error('defaultModel')}>
        {(control) => (
          <Select {...control} disabled={!mayChange} options={options} value={values.defaultModel} onChange={(model) => form.set('defaultModel', model)} />
        )}
      </Field>
      <Field
        label="Environment of a task that names none"
        hint="It decides which secrets a conversation is given. Empty: none."
        error={form.error('defaultEnvironment')}
      >
        {(control) => (
          <Input
            {...control}
            disabled={!mayChange}
            value={values.defaultEnvironment}
            placeholder="staging"
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => form.set('defaultEnvironment', event.target.value)}
          />
        )}
      </Field>
      <Field label="Steps for one message, at most" hint="Empty: what the installation allows." error={form.error('maxIterations')}>
        {(control) => (
          <Input
            {...control}
            inputMode="numeric"
            disabled={!mayChange}
            value={values.maxIterations}
            onChange={(event) => form.set('maxIterations', event.target.value)}
          />
        )}
      </Field>
      <Field
        label="Agents ask before they act"
        hint="A person may be stricter for a conversation, never laxer. It holds from a conversation’s next start on."
        error={form.error('confirmation')}
      >
        {(control) => (
          <Select
            {...control}
            disabled={!mayChange}
            options={ASKING}
            value={values.confirmation}
            onChange={(mode) => form.set('confirmation', ConfirmationMode.parse(mode))}
          />
        )}
      </Field>
      <Checkbox
        label="Nobody approves for themselves"
        hint="Another person than the conversation’s own, and than who wrote to it last, has to say yes. Everybody may say no."
        disabled={!mayChange}
        checked={values.fourEyes}
        onChange={(fourEyes) => form.set('fourEyes', fourEyes)}
      />
      <Checkbox
        label="Members may bring secrets of their own"
        hint="When they may not, those that exist are kept and not handed out."
        disabled={!mayChange}
        checked={values.memberSecrets}
        onChange={(memberSecrets) => form.set('memberSecrets', memberSecrets)}
      />
      <Checkbox
        label="Keep what agents ask models, and the answers"
        hint="Prompts hold what people write and what agents read, code too. What looks like a key or a password is masked. Members are told, admins can export it. Without it nothing is kept, and what was kept is deleted. For owners."
        disabled={!ownsPrompts}
        checked={values.keepsPrompts}
        onChange={(keepsPrompts) => form.set('keepsPrompts', keepsPrompts)}
      />
      {values.keepsPrompts ? (
        <Field label="Days that they are kept" error={form.error('promptLogDays')}>
          {(control) => (
            <Input
              {...control}
              inputMode="numeric"
              disabled={!ownsPrompts}
              value={values.promptLogDays}
              onChange={(event) => form.set('promptLogDays', event.target.value)}
            />
          )}
        </Field>
      ) : null}
      {settings.promptLogDays !== null && org.permissions.includes('prompt-log:read') ? (
        <a href={`/api/v1/orgs/${org.id}/prompt-log/export`} download className="self-start text-sm text-accent hover:underline">
          Export what is kept
        </a>
      ) : null}
      <Checkbox
        label="Share usage data"
        hint={usageHint(me.analytics.host)}
        disabled={!mayChange || (me.analytics.host === null && !values.analytics)}
        checked={values.analytics}
        onChange={(analytics) => form.set('analytics', analytics)}
      />
      {settings.analytics && me.analytics.host !== null && mayChange ? (
        <a href={`/api/v1/orgs/${org.id}/analytics/waiting`} target="_blank" rel="noreferrer" className="self-start text-sm text-accent hover:underline">
          Show what waits to be sent
        </a>
      ) : null}
      <VersionedFailure failure={form.failure} what="the settings" reread={() => void reread().then((read) => read && form.take(read))} />
      {mayChange ? (
        <Button type="submit" tone="primary" className="self-start" busy={form.busy} disabled={!form.changed}>
          Save
        </Button>
      ) : null}
    </form>
  );
}
