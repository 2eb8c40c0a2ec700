'use client';
import { CreateEgressRule, type EgressRule, type TryEgressRule } from '@slipway/contracts/sandboxes';
import { Button, Dialog, Field, Input, Select } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { type Option, translated } from '../../messages/translate.ts';
import { FormFailure } from '../form/form-failure.tsx';
import { ScopeFields, type ScopeValues } from '../form/scope-fields.tsx';
import { useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';
import { LimitFields } from './limit-fields.tsx';
import { type LimitValues, limitsOf, NO_LIMITS } from './rule-values.ts';
import { TryRule } from './try-rule.tsx';

const EFFECTS: readonly Option[] = [
  { value: 'allow', label: 'adminNetwork.allow' },
  { value: 'deny', label: 'adminNetwork.deny' },
];
const SCOPES: readonly Option[] = [
  { value: 'organization', label: 'adminNetwork.scopeOrganization' },
  { value: 'repository', label: 'adminNetwork.scopeRepository' },
  { value: 'environment', label: 'adminNetwork.scopeEnvironment' },
  { value: 'conversation', label: 'adminNetwork.scopeConversation' },
];
const SCOPE_VALUES: ScopeValues = {
  repository: { label: 'common.repository', placeholder: 'adminNetwork.httpsGithubComOwnerName' },
  environment: { label: 'adminNetwork.environment', placeholder: 'adminNetwork.staging' },
  conversation: { label: 'common.conversation', placeholder: 'adminNetwork.conversationId' },
};
const PLAIN = { autoComplete: 'off', spellCheck: false } as const;

interface Values extends LimitValues {
  host: string;
  action: string;
  scope: string;
  scopeValue: string;
  expiresInHours: string;
  reason: string;
}
const NO_VALUES: Values = {
  ...NO_LIMITS,
  host: '',
  action: 'allow',
  scope: 'organization',
  scopeValue: '',
  expiresInHours: '',
  reason: '',
};

interface NewRuleProps {
  /** Whether a rule may name methods and paths here. */
  opensHosts: boolean;
  onClose: () => void;
  onMade: (rule: EgressRule) => void;
}

export function NewRuleDialog({ open, ...rest }: NewRuleProps & { open: boolean }) {
  const t = useTranslations();
  return (
    <Dialog open={open} onOpenChange={(next) => next || rest.onClose()} title={t('adminNetwork.newRule')}>
      <NewRule {...rest} />
    </Dialog>
  );
}

/** What the values mean; the schema decides whether that may be sent. */
function requestOf({
  host,
  scopeValue,
  expiresInHours,
  methods,
  chosen,
  paths,
  foreign,
  websocket,
  ...values
}: Values) {
  return {
    ...values,
    ...limitsOf({ methods, chosen, paths, foreign, websocket }, values.action),
    host: host.trim(),
    ...(values.scope === 'organization' ? {} : { scopeValue: scopeValue.trim() }),
    ...(expiresInHours.trim() === '' ? {} : { expiresInHours: Number(expiresInHours) }),
  };
}

function NewRule({ opensHosts, onClose, onMade }: NewRuleProps) {
  const t = useTranslations();
  const { org } = useSession();
  const form = useForm({
    initial: NO_VALUES,
    schema: CreateEgressRule,
    requestOf,
    send: (body, idempotencyKey) => api.createEgressRule({ org: org.id, idempotencyKey, body }),
    onDone: onMade,
  });
  const { values } = form;
  return (
    <form {...form.props} className="flex flex-col gap-4 p-4">
      <Field label={t('adminNetwork.host')} hint={t('adminNetwork.hostHint')} error={form.error('host')}>
        {(control) => (
          <Input
            {...control}
            {...PLAIN}
            value={values.host}
            placeholder={t('adminNetwork.apiExampleCom')}
            className="font-mono"
            onChange={(event) => form.set('host', event.target.value)}
          />
        )}
      </Field>
      <Field label={t('adminNetwork.effect')} error={form.error('action')}>
        {(control) => (
          <Select
            {...control}
            value={values.action}
            options={translated(t, EFFECTS)}
            onChange={(action) => form.set('action', action)}
          />
        )}
      </Field>
      {opensHosts ? (
        <LimitFields
          values={values}
          allows={values.action === 'allow'}
          error={form.error}
          onChange={(change) => {
            for (const [name, value] of Object.entries(change)) form.set(name as keyof LimitValues, value as never);
          }}
        />
      ) : null}
      <ScopeFields form={form} label={t('adminNetwork.scope')} scopes={SCOPES} places={SCOPE_VALUES} />
      <div className="grid gap-4 sm:grid-cols-[10rem_minmax(0,1fr)]">
        <Field
          label={t('adminNetwork.endsAfter')}
          hint={t('adminNetwork.leaveEmpty')}
          error={form.error('expiresInHours')}
        >
          {(control) => (
            <Input
              {...control}
              inputMode="numeric"
              value={values.expiresInHours}
              onChange={(event) => form.set('expiresInHours', event.target.value)}
            />
          )}
        </Field>
        <Field label={t('adminNetwork.reason')} error={form.error('reason')}>
          {(control) => (
            <Input
              {...control}
              value={values.reason}
              maxLength={500}
              autoComplete="off"
              placeholder={t('adminNetwork.whyItIsNeeded')}
              onChange={(event) => form.set('reason', event.target.value)}
            />
          )}
        </Field>
      </div>
      <TryRule rule={requestOf(values) as TryEgressRule['rule']} disabled={values.host.trim() === ''} />
      <FormFailure failure={form.failure} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('common.cancel')}</Button>
        <Button type="submit" tone="primary" busy={form.busy}>
          {t('adminNetwork.addRule')}
        </Button>
      </div>
    </form>
  );
}
