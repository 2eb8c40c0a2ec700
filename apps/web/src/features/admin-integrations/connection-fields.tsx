'use client';
import type { IntegrationProvider } from '@slipway/contracts/integrations';
import { Checkbox, Field, Input } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import type { Form } from '../form/use-form.ts';
import type { ConnectionValues } from './connection-values.ts';
import { PlaceRepositories, ProcessorChoices } from './thread-settings.tsx';

const TEXT = { autoComplete: 'off', autoCapitalize: 'none', spellCheck: false } as const;

/** How parts of the values change. */
function settersOf<Values extends ConnectionValues>(form: Form<Values>) {
  const { values } = form;
  return {
    set: (part: Partial<ConnectionValues['settings']>) => form.set('settings', { ...values.settings, ...part }),
    setOwn: (part: Partial<ConnectionValues['own']>) => form.set('own', { ...values.own, ...part }),
  };
}

/** What of a connection is set when it is made and can be changed later. What has a good default is folded. */
export function ConnectionFields<Values extends ConnectionValues>({
  form,
  provider,
  tokenHint,
  tokenIsSet,
}: {
  form: Form<Values>;
  provider: Pick<IntegrationProvider, 'takesToken' | 'does' | 'host' | 'places' | 'processors'>;
  tokenHint: string | undefined;
  tokenIsSet: boolean;
}) {
  const t = useTranslations();
  const { values } = form;
  const { takesToken } = provider;
  const isCode = provider.does.includes('code');
  const { set, setOwn } = settersOf(form);
  const wrong = [
    'settings.labels',
    'settings.bots',
    'settings.defaultRepository',
    'settings.repositories',
    'settings.baseUrl',
    'own.mention',
    'own.ids',
  ].some((name) => form.error(name) !== null);
  return (
    <>
      <Field label={t('common.name')} hint={t('adminIntegrations.shownToUsers')} error={form.error('name')}>
        {(control) => (
          <Input
            {...control}
            value={values.name}
            maxLength={100}
            autoComplete="off"
            onChange={(event) => form.set('name', event.target.value)}
          />
        )}
      </Field>
      {takesToken ? (
        <Field
          label={t('adminIntegrations.accessToken')}
          hint={`${tokenHint ?? t('adminIntegrations.usedToCheckWhoHas')} ${tokenIsSet ? t('adminIntegrations.leaveEmptyToKeepThe') : isCode ? t('adminIntegrations.withoutOneRequestsThatName') : t('adminIntegrations.withoutOneSlipwayCannotReply')}`}
          error={form.error('token')}
        >
          {(control) => (
            <Input
              {...control}
              {...TEXT}
              type="password"
              value={values.token}
              onChange={(event) => form.set('token', event.target.value)}
            />
          )}
        </Field>
      ) : null}
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label={t('adminIntegrations.labels')}
          hint={t('adminIntegrations.eachLabelStartsAConversation')}
          error={form.error('settings.labels')}
        >
          {(control) => (
            <Input
              {...control}
              {...TEXT}
              value={values.settings.labels}
              onChange={(event) => set({ labels: event.target.value })}
            />
          )}
        </Field>
        <Field
          label={t('adminIntegrations.mention')}
          hint={t('adminIntegrations.usersWrite', { mention: values.own.mention.replace(/^@/, '') || 'slipway' })}
          error={form.error('own.mention')}
        >
          {(control) => (
            <Input
              {...control}
              {...TEXT}
              value={values.own.mention}
              onChange={(event) => setOwn({ mention: event.target.value })}
            />
          )}
        </Field>
      </div>
      <details open={wrong || undefined} className="rounded-md border border-line px-3">
        <summary className="cursor-pointer py-2 text-sm font-medium">{t('adminIntegrations.moreSettings')}</summary>
        <MoreSettings form={form} provider={provider} />
      </details>
    </>
  );
}

function MoreSettings<Values extends ConnectionValues>({
  form,
  provider,
}: {
  form: Form<Values>;
  provider: Pick<IntegrationProvider, 'does' | 'host' | 'places' | 'processors'>;
}) {
  const t = useTranslations();
  const { values } = form;
  const { set, setOwn } = settersOf(form);
  const isCode = provider.does.includes('code');
  return (
    <div className="flex flex-col gap-4 pb-3">
      <Field
        label={t('adminIntegrations.defaultRepository')}
        hint={t('adminIntegrations.theUrlUsedWhenA')}
        error={form.error('settings.defaultRepository')}
      >
        {(control) => (
          <Input
            {...control}
            {...TEXT}
            inputMode="url"
            placeholder={t('adminIntegrations.httpsGitExampleComOwner')}
            value={values.settings.defaultRepository}
            onChange={(event) => set({ defaultRepository: event.target.value })}
          />
        )}
      </Field>
      {provider.places === null ? null : (
        <PlaceRepositories
          kind={provider.places}
          values={values.settings.repositories}
          error={form.error('settings.repositories')}
          onChange={(repositories) => set({ repositories })}
        />
      )}
      {provider.processors.length === 0 ? null : (
        <ProcessorChoices
          offered={provider.processors}
          values={values.settings.processors}
          onChange={(processors) => set({ processors })}
        />
      )}
      {isCode || provider.host === null ? (
        <Field
          label={t('adminIntegrations.baseUrl')}
          hint={t('adminIntegrations.setThisIfTheHost')}
          error={form.error('settings.baseUrl')}
        >
          {(control) => (
            <Input
              {...control}
              {...TEXT}
              inputMode="url"
              value={values.settings.baseUrl}
              onChange={(event) => set({ baseUrl: event.target.value })}
            />
          )}
        </Field>
      ) : null}
      <Field
        label={t('adminIntegrations.idsOfSlipwaysOwnAccount')}
        hint={t('adminIntegrations.theProvidersIdOfThe')}
        error={form.error('own.ids')}
      >
        {(control) => (
          <Input
            {...control}
            {...TEXT}
            value={values.own.ids}
            onChange={(event) => setOwn({ ids: event.target.value })}
          />
        )}
      </Field>
      <Field
        label={t('adminIntegrations.allowedBots')}
        hint={t('adminIntegrations.theirIdsAtTheProvider')}
        error={form.error('settings.bots')}
      >
        {(control) => (
          <Input
            {...control}
            {...TEXT}
            value={values.settings.bots}
            onChange={(event) => set({ bots: event.target.value })}
          />
        )}
      </Field>
      {isCode ? <PullRequestFields form={form} /> : null}
      <Checkbox
        label={t('adminIntegrations.readConfidentialIssues')}
        hint={t('adminIntegrations.everyoneWhoCanOpenThe')}
        checked={values.settings.confidential}
        onChange={(confidential) => set({ confidential })}
      />
    </div>
  );
}

function PullRequestFields<Values extends ConnectionValues>({ form }: { form: Form<Values> }) {
  const t = useTranslations();
  const { values } = form;
  const { set } = settersOf(form);
  return (
    <>
      <Checkbox
        label={t('adminIntegrations.publishAutomatically')}
        hint={t('adminIntegrations.opensAPullRequestWhen')}
        checked={values.settings.publishes}
        onChange={(publishes) => set({ publishes })}
      />
      <Field
        label={t('adminIntegrations.fixFailedChecksAutomatically')}
        hint={t('adminIntegrations.maximumAttemptsPerPullRequest')}
        error={form.error('settings.fixRounds')}
      >
        {(control) => (
          <Input
            {...control}
            type="number"
            min={0}
            max={10}
            value={values.settings.fixRounds}
            onChange={(event) => set({ fixRounds: Math.max(0, Math.trunc(event.target.valueAsNumber || 0)) })}
          />
        )}
      </Field>
    </>
  );
}
