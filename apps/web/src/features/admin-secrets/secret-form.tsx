'use client';
import { MIN_MASKED_LENGTH } from '@slipway/contracts/events';
import { CreateOwnSecret, CreateSecret, type Secret } from '@slipway/contracts/secrets';
import { Button, Dialog, Field, Input, Select, Textarea } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { type Option, translated } from '../../messages/translate.ts';
import { FormFailure } from '../form/form-failure.tsx';
import { ScopeFields, type ScopeValues } from '../form/scope-fields.tsx';
import { type Form, useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';

/** Whose secrets a form is about. */
export type Whose = 'org' | 'mine';

const SCOPES: readonly Option[] = [
  { value: 'org', label: 'adminSecrets.allConversations' },
  { value: 'environment', label: 'adminSecrets.conversationsInAnEnvironment' },
  { value: 'repository', label: 'adminSecrets.conversationsOnARepository' },
  { value: 'conversation', label: 'adminSecrets.oneConversation' },
];
const SCOPE_VALUES: ScopeValues = {
  environment: { label: 'adminSecrets.environment', placeholder: 'adminSecrets.staging' },
  repository: { label: 'common.repository', placeholder: 'adminSecrets.httpsGithubComOwnerName' },
  conversation: { label: 'common.conversation', placeholder: 'adminSecrets.conversationId' },
};
const KINDS: readonly Option[] = [
  { value: 'variable', label: 'adminSecrets.environmentVariable' },
  { value: 'git', label: 'adminSecrets.gitHostPassword' },
];

export function NewSecretDialog({
  whose,
  open,
  onClose,
  onMade,
}: {
  whose: Whose;
  open: boolean;
  onClose: () => void;
  onMade: (secret: Secret) => void;
}) {
  const t = useTranslations();
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={whose === 'org' ? t('adminSecrets.newSecret') : t('adminSecrets.newPersonalSecret')}
    >
      <NewSecret whose={whose} onClose={onClose} onMade={onMade} />
    </Dialog>
  );
}

interface SecretValues {
  name: string;
  kind: string;
  value: string;
  host: string;
  username: string;
  description: string;
  scope: string;
  scopeValue: string;
}
const NO_VALUES: SecretValues = {
  name: '',
  kind: 'variable',
  value: '',
  host: '',
  username: '',
  description: '',
  scope: 'org',
  scopeValue: '',
};

function NewSecret({
  whose,
  onClose,
  onMade,
}: {
  whose: Whose;
  onClose: () => void;
  onMade: (secret: Secret) => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const form = useForm({
    initial: NO_VALUES,
    schema: whose === 'org' ? CreateSecret : CreateOwnSecret,
    requestOf: ({ host, username, scope, scopeValue, ...values }) => ({
      ...values,
      ...(values.kind === 'git' || host !== '' ? { host } : {}),
      ...(values.kind === 'git' && username !== '' ? { username } : {}),
      ...(whose === 'org' ? { scope, ...(scope === 'org' ? {} : { scopeValue }) } : {}),
    }),
    send: (body) =>
      whose === 'org'
        ? api.createSecret({ org: org.id, body: body as CreateSecret })
        : api.createMySecret({ org: org.id, body: body as CreateOwnSecret }),
    onDone: onMade,
  });
  const { values } = form;
  return (
    <form {...form.props} className="flex flex-col gap-4 p-4">
      <Field label={t('adminSecrets.type')} error={form.error('kind')}>
        {(control) => (
          <Select
            {...control}
            value={values.kind}
            options={translated(t, KINDS)}
            onChange={(kind) => form.set('kind', kind)}
          />
        )}
      </Field>
      <Field
        label={t('common.name')}
        hint={
          values.kind === 'git'
            ? t('adminSecrets.forReferenceGitSelectsIt')
            : t('adminSecrets.theVariableNameThatCommands')
        }
        error={form.error('name')}
      >
        {(control) => (
          <Input
            {...control}
            value={values.name}
            placeholder={values.kind === 'git' ? t('adminSecrets.github') : t('adminSecrets.databasePassword')}
            autoComplete="off"
            spellCheck={false}
            className="font-mono"
            onChange={(event) => form.set('name', event.target.value)}
          />
        )}
      </Field>
      <HostFields form={form} />
      <ValueField value={values.value} error={form.error('value')} onChange={(value) => form.set('value', value)} />
      {whose === 'org' ? (
        <ScopeFields form={form} label={t('adminSecrets.scope2')} scopes={SCOPES} places={SCOPE_VALUES} />
      ) : null}
      <Field label={t('adminSecrets.description')} error={form.error('description')}>
        {(control) => (
          <Input
            {...control}
            value={values.description}
            maxLength={500}
            autoComplete="off"
            onChange={(event) => form.set('description', event.target.value)}
          />
        )}
      </Field>
      <FormFailure failure={form.failure} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('common.cancel')}</Button>
        <Button type="submit" tone="primary" busy={form.busy}>
          {t('adminSecrets.addSecret')}
        </Button>
      </div>
    </form>
  );
}

/** Where a password is used: a git host, or a site that the agent's browser signs in to. */
function HostFields({ form }: { form: Form<SecretValues> }) {
  const t = useTranslations();
  const { values } = form;
  return values.kind === 'git' ? (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label={t('adminSecrets.host')} error={form.error('host')}>
        {(control) => (
          <Input
            {...control}
            value={values.host}
            placeholder={t('adminSecrets.githubCom')}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => form.set('host', event.target.value)}
          />
        )}
      </Field>
      <Field
        label={t('adminSecrets.username')}
        hint={t('adminSecrets.githubAndGitlabAcceptAny')}
        error={form.error('username')}
      >
        {(control) => (
          <Input
            {...control}
            value={values.username}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => form.set('username', event.target.value)}
          />
        )}
      </Field>
    </div>
  ) : (
    <Field
      label={t('adminSecrets.browserSite')}
      hint={t('adminSecrets.theAgentsBrowserCanEnter')}
      error={form.error('host')}
    >
      {(control) => (
        <Input
          {...control}
          value={values.host}
          placeholder={t('adminSecrets.loginExampleCom')}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => form.set('host', event.target.value)}
        />
      )}
    </Field>
  );
}

/** Text of several lines cannot be a password field; it is covered until it is typed into. */
export function ValueField({
  value,
  error,
  onChange,
}: {
  value: string;
  error: string | null;
  onChange: (value: string) => void;
}) {
  const t = useTranslations();
  return (
    <Field
      label={t('adminSecrets.value')}
      hint={t('adminSecrets.maskedInAgentOutputIf', { min: MIN_MASKED_LENGTH })}
      error={error}
    >
      {(control) => (
        <Textarea
          {...control}
          rows={3}
          value={value}
          autoComplete="off"
          spellCheck={false}
          className="font-mono [&:not(:focus)]:[-webkit-text-security:disc]"
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
