'use client';
import { CreateCredential, type Credential, UpdateCredential } from '@slipway/contracts/credentials';
import { Button, Dialog, Field, Input, Notice, Select } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api, newId } from '../../api/client.ts';
import { type Option, translated } from '../../messages/translate.ts';
import { FormFailure } from '../form/form-failure.tsx';
import { ScopeFields, type ScopeValues } from '../form/scope-fields.tsx';
import { type Form, useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';
import {
  type CredentialValues,
  createRequest,
  keepsValue,
  needsValue,
  newValues,
  updateRequest,
  valuesOf,
} from './credential-values.ts';
import { PRESET_IDS, PRESETS, type PresetId, presetValues } from './presets.ts';
import { UseFields } from './use-fields.tsx';
import { ValueField, ValueSource } from './value-fields.tsx';

const SCOPES: readonly Option[] = [
  { value: 'org', label: 'adminCredentials.scopeOrg' },
  { value: 'environment', label: 'adminCredentials.scopeEnvironment' },
  { value: 'repository', label: 'adminCredentials.scopeRepository' },
];
const SCOPE_VALUES: ScopeValues = {
  environment: { label: 'adminCredentials.environment', placeholder: 'adminCredentials.staging' },
  repository: { label: 'common.repository', placeholder: 'adminCredentials.httpsGithubComOwnerName' },
};
const PRESET_OPTIONS: readonly Option[] = [
  { value: '', label: 'adminCredentials.presetNone' },
  ...PRESET_IDS.map((value) => ({ value, label: PRESETS[value].label })),
];

interface Given {
  /** `null`: a new one. */
  readonly credential: Credential | null;
  readonly onClose: () => void;
  readonly onDone: (credential: Credential) => void;
}

export function CredentialDialog(given: Given) {
  const t = useTranslations();
  const { credential, onClose } = given;
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={credential === null ? t('adminCredentials.newCredential') : t('common.edit2', { name: credential.name })}
      className="w-[min(600px,calc(100vw-32px))]"
    >
      {credential === null ? <NewCredential {...given} /> : <EditCredential {...given} credential={credential} />}
    </Dialog>
  );
}

function NewCredential({ onClose, onDone }: Given) {
  const t = useTranslations();
  const { org } = useSession();
  const [initial] = useState(() => newValues(newId()));
  const form = useForm<CredentialValues, typeof CreateCredential, Credential>({
    initial,
    schema: CreateCredential,
    requestOf: createRequest,
    send: (body) => api.createCredential({ org: org.id, body }),
    onDone,
  });
  const { values } = form;
  const isVariable = values.use.form === 'placeholder';
  return (
    <form {...form.props} className="flex flex-col gap-4 p-4">
      <PresetField form={form} />
      {keepsValue(values.use) ? <ValueSource form={form} /> : null}
      <Field
        label={t('common.name')}
        hint={t(isVariable ? 'adminCredentials.nameIsVariable' : 'adminCredentials.nameHint')}
        error={form.error('name')}
      >
        {(control) => (
          <Input
            {...control}
            value={values.name}
            placeholder={t('adminCredentials.name')}
            autoComplete="off"
            spellCheck={false}
            className="font-mono"
            onChange={(event) => form.set('name', event.target.value)}
          />
        )}
      </Field>
      <UseFields form={form} />
      <ScopeFields form={form} label={t('adminCredentials.scope')} scopes={SCOPES} places={SCOPE_VALUES} />
      <LastDayField form={form} />
      <DescriptionField form={form} />
      <Ending form={form} onClose={onClose} label={t('adminCredentials.addCredential')} />
    </form>
  );
}

function EditCredential({ credential, onClose, onDone }: Given & { credential: Credential }) {
  const t = useTranslations();
  const { org } = useSession();
  const [initial] = useState(() => valuesOf(credential, newId()));
  const form = useForm<CredentialValues, typeof UpdateCredential, Credential>({
    initial,
    schema: UpdateCredential,
    requestOf: (values) => updateRequest(credential, values),
    send: (body) => api.updateCredential({ org: org.id, credential: credential.id, body }),
    onDone,
  });
  const isNeeded = needsValue(credential, form.values.use);
  return (
    <form {...form.props} className="flex flex-col gap-4 p-4">
      <UseFields form={form} />
      {isNeeded ? (
        <Notice tone="warn" title={t('adminCredentials.valueIsNeeded')}>
          {t('adminCredentials.valueIsNeededBecause')}
        </Notice>
      ) : null}
      {keepsValue(form.values.use) ? <ValueField form={form} isOptional={!isNeeded} /> : null}
      <LastDayField form={form} />
      <DescriptionField form={form} />
      <Ending form={form} onClose={onClose} label={t('common.save')} />
    </form>
  );
}

/** Fills the form with what many need. */
function PresetField({ form }: { form: Form<CredentialValues> }) {
  const t = useTranslations();
  const [preset, setPreset] = useState('');
  return (
    <Field label={t('adminCredentials.preset')}>
      {(control) => (
        <Select
          {...control}
          data-autofocus
          value={preset}
          options={translated(t, PRESET_OPTIONS)}
          onChange={(next) => {
            setPreset(next);
            if (next !== '') form.reset(presetValues(form.values, next as PresetId, newId()));
          }}
        />
      )}
    </Field>
  );
}

function LastDayField({ form }: { form: Form<CredentialValues> }) {
  const t = useTranslations();
  return (
    <Field
      label={t('adminCredentials.lastDay')}
      hint={t('adminCredentials.lastDayHint')}
      error={form.error('expiresAt')}
    >
      {(control) => (
        <Input
          {...control}
          type="date"
          value={form.values.lastDay}
          onChange={(event) => form.set('lastDay', event.target.value)}
        />
      )}
    </Field>
  );
}

function DescriptionField({ form }: { form: Form<CredentialValues> }) {
  const t = useTranslations();
  return (
    <Field label={t('adminCredentials.description')} error={form.error('description')}>
      {(control) => (
        <Input
          {...control}
          value={form.values.description}
          maxLength={500}
          autoComplete="off"
          onChange={(event) => form.set('description', event.target.value)}
        />
      )}
    </Field>
  );
}

function Ending({ form, label, onClose }: { form: Form<CredentialValues>; label: string; onClose: () => void }) {
  const t = useTranslations();
  return (
    <>
      <FormFailure failure={form.failure} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('common.cancel')}</Button>
        <Button type="submit" tone="primary" busy={form.busy}>
          {label}
        </Button>
      </div>
    </>
  );
}
