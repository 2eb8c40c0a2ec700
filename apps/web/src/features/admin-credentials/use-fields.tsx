'use client';
import type { CredentialForm } from '@slipway/contracts/credentials';
import { Field, Input, Select, Textarea } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { type MessageKey, type Option, translated } from '../../messages/translate.ts';
import type { Form } from '../form/use-form.ts';
import type { CredentialValues, UseValues } from './credential-values.ts';
import { FORM_OPTIONS, FORMS } from './credential-words.tsx';
import { PlacesField } from './places-field.tsx';

type TextName =
  | 'username'
  | 'header'
  | 'prefix'
  | 'tokenUrl'
  | 'clientId'
  | 'scope'
  | 'audience'
  | 'subjectAudience'
  | 'resource'
  | 'accessKeyId'
  | 'appId'
  | 'installationId'
  | 'apiUrl'
  | 'account'
  | 'shape';
interface TextWords {
  readonly label: MessageKey;
  readonly hint?: MessageKey;
  readonly placeholder?: MessageKey;
}

const TEXTS: Record<TextName, TextWords> = {
  username: { label: 'adminCredentials.username', hint: 'adminCredentials.usernameHint' },
  header: { label: 'adminCredentials.headerName', placeholder: 'adminCredentials.xApiKey' },
  prefix: { label: 'adminCredentials.prefix', placeholder: 'adminCredentials.nothing' },
  tokenUrl: { label: 'adminCredentials.tokenUrl', placeholder: 'adminCredentials.tokenUrlExample' },
  clientId: { label: 'adminCredentials.clientId' },
  scope: { label: 'adminCredentials.scopes', hint: 'adminCredentials.scopesHint' },
  audience: { label: 'adminCredentials.audience', hint: 'adminCredentials.audienceHint' },
  subjectAudience: { label: 'adminCredentials.subjectAudience', hint: 'adminCredentials.tokenAudienceHint' },
  resource: { label: 'adminCredentials.resource', hint: 'adminCredentials.audienceHint' },
  appId: { label: 'adminCredentials.appId', hint: 'adminCredentials.appIdHint' },
  installationId: { label: 'adminCredentials.installationId', hint: 'adminCredentials.installationIdHint' },
  apiUrl: { label: 'adminCredentials.apiUrl', hint: 'adminCredentials.apiUrlHint' },
  account: { label: 'adminCredentials.account', hint: 'adminCredentials.accountHint' },
  accessKeyId: { label: 'adminCredentials.accessKeyId', placeholder: 'adminCredentials.akia' },
  shape: {
    label: 'adminCredentials.shape',
    hint: 'adminCredentials.shapeHint',
    placeholder: 'adminCredentials.sk',
  },
};
const TEXTS_OF: Record<CredentialForm, readonly TextName[]> = {
  bearer: [],
  basic: ['username'],
  header: ['header', 'prefix'],
  'oauth-client-credentials': ['tokenUrl', 'clientId', 'scope', 'audience'],
  'token-exchange': ['tokenUrl', 'subjectAudience', 'audience', 'resource', 'scope', 'clientId'],
  'oauth-refresh-token': ['tokenUrl', 'clientId', 'scope'],
  'github-app': ['appId', 'installationId', 'account', 'apiUrl'],
  mtls: [],
  'workload-token': ['audience'],
  'aws-sigv4': ['accessKeyId'],
  placeholder: ['shape'],
};

/** Where one form means something of its own. */
const WORDS_OF: Partial<Record<CredentialForm, Partial<Record<TextName, TextWords>>>> = {
  'token-exchange': {
    clientId: { label: 'adminCredentials.clientId', hint: 'adminCredentials.audienceHint' },
  },
  'workload-token': {
    audience: {
      label: 'adminCredentials.audience',
      hint: 'adminCredentials.tokenAudienceHint',
      placeholder: 'adminCredentials.httpsApiExampleCom',
    },
  },
};

const CLIENT_AUTH: readonly Option[] = [
  { value: 'none', label: 'adminCredentials.clientAuthNone' },
  { value: 'basic', label: 'adminCredentials.clientAuthBasic' },
  { value: 'body', label: 'adminCredentials.clientAuthBody' },
];

const AUTH_OF: Partial<Record<CredentialForm, readonly Option[]>> = {
  'oauth-client-credentials': CLIENT_AUTH.slice(1),
  'token-exchange': CLIENT_AUTH,
  'oauth-refresh-token': CLIENT_AUTH,
};
/** Few servers want a client where a token of this installation is exchanged. */
const formChange = (form: CredentialForm): Partial<UseValues> => ({
  form,
  clientAuth: form === 'token-exchange' ? 'none' : 'basic',
});

/** How the value is put into requests, and into which. */
export function UseFields({ form }: { form: Form<CredentialValues> }) {
  const t = useTranslations();
  const { use } = form.values;
  const put = (change: Partial<UseValues>) => form.set('use', { ...use, ...change });
  return (
    <>
      <Field label={t('adminCredentials.form')} hint={t(FORMS[use.form].means)} error={form.error('use.form')}>
        {(control) => (
          <Select
            {...control}
            value={use.form}
            options={translated(t, FORM_OPTIONS)}
            onChange={(next) => put(formChange(next as CredentialForm))}
          />
        )}
      </Field>
      {TEXTS_OF[use.form].length === 0 ? null : (
        <div className="grid gap-4 sm:grid-cols-2">
          {TEXTS_OF[use.form].map((name) => {
            const { label, hint, placeholder } = WORDS_OF[use.form]?.[name] ?? TEXTS[name];
            return (
              <Field
                key={name}
                label={t(label)}
                hint={hint === undefined ? undefined : t(hint)}
                error={form.error(`use.${name}`)}
              >
                {(control) => (
                  <Input
                    {...control}
                    value={use[name]}
                    placeholder={placeholder === undefined ? undefined : t(placeholder)}
                    autoComplete="off"
                    spellCheck={false}
                    className="font-mono"
                    onChange={(event) => put({ [name]: event.target.value })}
                  />
                )}
              </Field>
            );
          })}
        </div>
      )}
      {use.form === 'github-app' ? <GithubLists form={form} put={put} /> : null}
      {AUTH_OF[use.form] !== undefined ? (
        <Field label={t('adminCredentials.clientAuth')} error={form.error('use.clientAuth')}>
          {(control) => (
            <Select
              {...control}
              value={use.clientAuth}
              options={translated(t, AUTH_OF[use.form] ?? [])}
              onChange={(next) => put({ clientAuth: next as UseValues['clientAuth'] })}
            />
          )}
        </Field>
      ) : null}
      <PlacesField
        places={use.places}
        error={(path) => form.error(`use.places.${path}`)}
        onChange={(places) => put({ places })}
      />
    </>
  );
}

const LISTS = [
  {
    name: 'repositories',
    label: 'adminCredentials.appRepositories',
    hint: 'adminCredentials.appRepositoriesHint',
    rows: 2,
  },
  { name: 'permissions', label: 'adminCredentials.permissions', hint: 'adminCredentials.permissionsHint', rows: 3 },
] as const;

/** For which repositories an App’s token is, and what it may do there. */
function GithubLists({ form, put }: { form: Form<CredentialValues>; put: (change: Partial<UseValues>) => void }) {
  const t = useTranslations();
  return LISTS.map(({ name, label, hint, rows }) => (
    <Field key={name} label={t(label)} hint={t(hint)} error={form.error(`use.${name}`)}>
      {(control) => (
        <Textarea
          {...control}
          dir="ltr"
          rows={rows}
          value={form.values.use[name]}
          autoComplete="off"
          spellCheck={false}
          className="font-mono"
          onChange={(event) => put({ [name]: event.target.value })}
        />
      )}
    </Field>
  ));
}
