'use client';
import { ConfirmationMode } from '@slipway/contracts/conversations';
import { type OrgSettings, UpdateOrgSettings } from '@slipway/contracts/organizations';
import { Button, Checkbox, Field, Input, Select } from '@slipway/ui';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { type Translate, translated } from '../../messages/translate.ts';
import { ASKING } from '../approval/asking.ts';
import type { Form } from '../form/use-form.ts';
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
  checkpointDays: string;
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
  checkpointDays: String(settings.checkpointDays),
});
const given = (typed: string): string | null => (typed.trim() === '' ? null : typed.trim());

export function SettingsPage() {
  const t = useTranslations();
  const { org } = useSession();
  const settings = useQuery({
    queryKey: ['org-settings', org.id],
    queryFn: ({ signal }) => api.getOrgSettings({ org: org.id, signal }),
  });
  return (
    <Page narrow title={t('common.settings')} description={t('adminSettings.defaultsForAllConversationsOf')}>
      <QueryPanel query={settings} label={t('common.theSettings')}>
        {(read) => <SettingsForm settings={read} reread={async () => (await settings.refetch()).data} />}
      </QueryPanel>
    </Page>
  );
}

function usageHint(t: Translate, host: string | null): string {
  if (host === null) return t('adminSettings.thisInstallationSendsNoUsage');
  return t('adminSettings.sentToActionsOfMembers', { host });
}

function SettingsForm({ settings, reread }: { settings: OrgSettings; reread: () => Promise<OrgSettings | undefined> }) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
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
      checkpointDays: Number(values.checkpointDays),
      ...(ownsPrompts ? { promptLogDays: values.keepsPrompts ? Number(values.promptLogDays) : null } : {}),
    }),
    send: (body, version) => api.updateOrgSettings({ org: org.id, body, ifMatch: version }),
    onDone: (saved) => {
      toast(t('adminSettings.settingsSaved'));
      queries.setQueryData(['org-settings', org.id], saved);
    },
  });
  const { values } = form;
  return (
    <form {...form.props} className="flex flex-col gap-4">
      <AgentDefaults form={form} disabled={!mayChange} />
      <ConfirmationSettings form={form} disabled={!mayChange} />
      <Checkbox
        label={t('adminSettings.allowPersonalSecrets')}
        hint={t('adminSettings.whenOffExistingPersonalSecrets')}
        disabled={!mayChange}
        checked={values.memberSecrets}
        onChange={(memberSecrets) => form.set('memberSecrets', memberSecrets)}
      />
      <CheckpointSettings form={form} disabled={!mayChange} />
      <PromptLogSettings form={form} settings={settings} disabled={!ownsPrompts} />
      <UsageDataSettings form={form} settings={settings} disabled={!mayChange} />
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

interface SectionProps {
  form: Form<Values>;
  disabled: boolean;
}

function AgentDefaults({ form, disabled }: SectionProps) {
  const t = useTranslations();
  const { org } = useSession();
  const models = useQuery({
    queryKey: ['models', org.id],
    queryFn: ({ signal }) => api.listModels({ org: org.id, signal }),
  });
  const { values } = form;
  const known = models.data?.data ?? [];
  const options = [
    { value: NO_MODEL, label: t('adminSettings.installationDefault') },
    ...known.map(({ id, label }) => ({ value: id, label })),
    ...(values.defaultModel === NO_MODEL || known.some(({ id }) => id === values.defaultModel)
      ? []
      : [
          { value: values.defaultModel, label: t('adminSettings.notAvailable', { defaultModel: values.defaultModel }) },
        ]),
  ];
  return (
    <>
      <Field label={t('adminSettings.defaultModel')} error={form.error('defaultModel')}>
        {(control) => (
          <Select
            {...control}
            disabled={disabled}
            options={options}
            value={values.defaultModel}
            onChange={(model) => form.set('defaultModel', model)}
          />
        )}
      </Field>
      <Field
        label={t('adminSettings.defaultEnvironment')}
        hint={t('adminSettings.decidesWhichSecretsAConversation')}
        error={form.error('defaultEnvironment')}
      >
        {(control) => (
          <Input
            {...control}
            disabled={disabled}
            value={values.defaultEnvironment}
            placeholder={t('adminSettings.staging')}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => form.set('defaultEnvironment', event.target.value)}
          />
        )}
      </Field>
      <Field
        label={t('adminSettings.maxStepsPerMessage')}
        hint={t('adminSettings.leaveEmptyForTheInstallations')}
        error={form.error('maxIterations')}
      >
        {(control) => (
          <Input
            {...control}
            inputMode="numeric"
            disabled={disabled}
            value={values.maxIterations}
            onChange={(event) => form.set('maxIterations', event.target.value)}
          />
        )}
      </Field>
    </>
  );
}

function ConfirmationSettings({ form, disabled }: SectionProps) {
  const t = useTranslations();
  const { values } = form;
  return (
    <>
      <Field
        label={t('adminSettings.confirmationPolicy')}
        hint={t('adminSettings.whenAgentsAskBeforeThey')}
        error={form.error('confirmation')}
      >
        {(control) => (
          <Select
            {...control}
            disabled={disabled}
            options={translated(t, ASKING)}
            value={values.confirmation}
            onChange={(mode) => form.set('confirmation', ConfirmationMode.parse(mode))}
          />
        )}
      </Field>
      <Checkbox
        label={t('adminSettings.requireApprovalByAnotherUser')}
        hint={t('adminSettings.actionsMustBeApprovedBy')}
        disabled={disabled}
        checked={values.fourEyes}
        onChange={(fourEyes) => form.set('fourEyes', fourEyes)}
      />
    </>
  );
}

function CheckpointSettings({ form, disabled }: SectionProps) {
  const t = useTranslations();
  return (
    <Field
      label={t('adminSettings.checkpointDays')}
      hint={t('adminSettings.checkpointsAreKeptAfter')}
      error={form.error('checkpointDays')}
    >
      {(control) => (
        <Input
          {...control}
          inputMode="numeric"
          disabled={disabled}
          value={form.values.checkpointDays}
          onChange={(event) => form.set('checkpointDays', event.target.value)}
        />
      )}
    </Field>
  );
}

function PromptLogSettings({ form, settings, disabled }: SectionProps & { settings: OrgSettings }) {
  const t = useTranslations();
  const { org } = useSession();
  const { values } = form;
  return (
    <>
      <Checkbox
        label={t('adminSettings.storePromptsAndAnswers')}
        hint={t('adminSettings.promptsContainWhatUsersWrite')}
        disabled={disabled}
        checked={values.keepsPrompts}
        onChange={(keepsPrompts) => form.set('keepsPrompts', keepsPrompts)}
      />
      {values.keepsPrompts ? (
        <Field label={t('adminSettings.retentionDays')} error={form.error('promptLogDays')}>
          {(control) => (
            <Input
              {...control}
              inputMode="numeric"
              disabled={disabled}
              value={values.promptLogDays}
              onChange={(event) => form.set('promptLogDays', event.target.value)}
            />
          )}
        </Field>
      ) : null}
      {settings.promptLogDays !== null && org.permissions.includes('prompt-log:read') ? (
        <a
          href={`/api/v1/orgs/${org.id}/prompt-log/export`}
          download
          className="self-start text-sm text-accent hover:underline"
        >
          {t('adminSettings.exportStoredPrompts')}
        </a>
      ) : null}
    </>
  );
}

function UsageDataSettings({ form, settings, disabled }: SectionProps & { settings: OrgSettings }) {
  const t = useTranslations();
  const { me, org } = useSession();
  const { values } = form;
  return (
    <>
      <Checkbox
        label={t('adminSettings.shareUsageData')}
        hint={usageHint(t, me.analytics.host)}
        disabled={disabled || (me.analytics.host === null && !values.analytics)}
        checked={values.analytics}
        onChange={(analytics) => form.set('analytics', analytics)}
      />
      {settings.analytics && me.analytics.host !== null && !disabled ? (
        <a
          href={`/api/v1/orgs/${org.id}/analytics/waiting`}
          target="_blank"
          rel="noreferrer"
          className="self-start text-sm text-accent hover:underline"
        >
          {t('adminSettings.showUnsentData')}
        </a>
      ) : null}
    </>
  );
}
