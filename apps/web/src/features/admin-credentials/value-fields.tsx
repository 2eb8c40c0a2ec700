'use client';
import type { CredentialForm } from '@slipway/contracts/credentials';
import type { Secret } from '@slipway/contracts/secrets';
import { Field, Input, Notice, Select, Textarea } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { type MessageKey, type Option, translated } from '../../messages/translate.ts';
import type { Form } from '../form/use-form.ts';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { type CredentialValues, isMovable, isOfLines, movedFrom } from './credential-values.ts';

const SOURCES: readonly Option[] = [
  { value: 'value', label: 'adminCredentials.newValue' },
  { value: 'secret', label: 'adminCredentials.movedSecret' },
];
/** Most secrets of an organization are fewer; pages that are read to find all. */
const MAX_PAGES = 10;

/** Where the value of a new credential comes from: it is typed, or a secret's moves here. */
export function ValueSource({ form }: { form: Form<CredentialValues> }) {
  const t = useTranslations();
  const { org } = useSession();
  const { source } = form.values;
  const mayMove = org.permissions.includes('secret:write');
  return (
    <>
      {mayMove ? (
        <Field label={t('adminCredentials.source')}>
          {(control) => (
            <Select
              {...control}
              value={source}
              options={translated(t, SOURCES)}
              onChange={(next) => form.set('source', next as CredentialValues['source'])}
            />
          )}
        </Field>
      ) : null}
      {source === 'secret' ? <SecretToMove form={form} /> : <ValueField form={form} isOptional={false} />}
    </>
  );
}

const CLIENT_SECRET: MessageKey = 'adminCredentials.clientSecret';
const LABELS: Partial<Record<CredentialForm, MessageKey>> = {
  'aws-sigv4': 'adminCredentials.secretAccessKey',
  'oauth-client-credentials': CLIENT_SECRET,
  'token-exchange': CLIENT_SECRET,
  'oauth-refresh-token': 'adminCredentials.refreshToken',
  'github-app': 'adminCredentials.privateKey',
  mtls: 'adminCredentials.certificateAndKey',
};

/** The value, and the second one that a refresh token may have beside it. */
export function ValueField(props: ValueFieldProps) {
  const { form } = props;
  const { use } = form.values;
  return (
    <>
      <CoveredField {...props} name="value" words={LABELS[use.form] ?? 'adminCredentials.value'} />
      {use.form === 'oauth-refresh-token' && use.clientAuth !== 'none' ? (
        <CoveredField {...props} name="clientSecret" words={CLIENT_SECRET} />
      ) : null}
    </>
  );
}

interface ValueFieldProps {
  readonly form: Form<CredentialValues>;
  /** Left empty, the value that is there stays. */
  readonly isOptional: boolean;
}

/** It is covered, and no browser offers to keep it. */
function CoveredField({
  form,
  isOptional,
  name,
  words,
}: ValueFieldProps & { name: 'value' | 'clientSecret'; words: MessageKey }) {
  const t = useTranslations();
  const hasLines = isOfLines(form.values.use);
  return (
    <Field
      label={t(words)}
      hint={t(
        isOptional
          ? 'adminCredentials.keepsTheValue'
          : hasLines
            ? 'adminCredentials.pemHint'
            : 'adminCredentials.valueHint',
      )}
      error={name === 'value' ? form.error('value') : null}
    >
      {(control) =>
        hasLines ? (
          <Textarea
            {...control}
            dir="ltr"
            rows={6}
            autoComplete="off"
            spellCheck={false}
            value={form.values[name]}
            className="font-mono text-xs"
            onChange={(event) => form.set(name, event.target.value)}
          />
        ) : (
          <Input
            {...control}
            type="password"
            autoComplete="new-password"
            spellCheck={false}
            value={form.values[name]}
            className="font-mono"
            onChange={(event) => form.set(name, event.target.value)}
          />
        )
      }
    </Field>
  );
}

function SecretToMove({ form }: { form: Form<CredentialValues> }) {
  const t = useTranslations();
  const { org } = useSession();
  const secrets = useQuery({
    queryKey: ['secrets-to-move', org.id],
    queryFn: async ({ signal }) => {
      const found: Secret[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const query = { limit: 100, ...(cursor === null ? {} : { cursor }) };
        const read: Awaited<ReturnType<typeof api.listSecrets>> = await api.listSecrets({ org: org.id, query, signal });
        found.push(...read.data.filter(isMovable));
        cursor = read.page.nextCursor;
        if (cursor === null) break;
      }
      return found;
    },
  });
  return (
    <QueryPanel query={secrets} label={t('common.secrets')}>
      {(found) =>
        found.length === 0 ? (
          <Notice>{t('adminCredentials.noSecretsToMove')}</Notice>
        ) : (
          <>
            <Field label={t('adminCredentials.secret')} error={form.error('fromSecret') ?? form.error('value')}>
              {(control) => (
                <Select
                  {...control}
                  value={form.values.fromSecret}
                  options={[
                    { value: '', label: t('adminCredentials.chooseASecret') },
                    ...found.map(({ id, name }) => ({ value: id, label: name })),
                  ]}
                  onChange={(id) => {
                    const secret = found.find((each) => each.id === id);
                    if (secret !== undefined) form.reset(movedFrom(form.values, secret));
                  }}
                />
              )}
            </Field>
            <Notice tone="warn">{t('adminCredentials.moveMeans')}</Notice>
          </>
        )
      }
    </QueryPanel>
  );
}
