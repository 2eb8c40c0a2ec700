'use client';
import { CreateOwnSecret, CreateSecret, MIN_MASKED_LENGTH, type Secret } from '@slipway/contracts';
import { Button, Dialog, Field, Input, Select, Textarea } from '@slipway/ui';
import { api } from '../../api/client.ts';
import { FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';

/** Whose secrets a form is about. */
export type Whose = 'org' | 'mine';

const SCOPES = [
  { value: 'org', label: 'Every conversation' },
  { value: 'environment', label: 'Conversations of an environment' },
  { value: 'repository', label: 'Conversations on a repository' },
  { value: 'conversation', label: 'One conversation' },
];
const SCOPE_VALUES: Readonly<Record<string, { readonly label: string; readonly placeholder: string }>> = {
  environment: { label: 'Environment', placeholder: 'staging' },
  repository: { label: 'Repository', placeholder: 'https://github.com/owner/name' },
  conversation: { label: 'Conversation', placeholder: 'its id' },
};
const KINDS = [
  { value: 'variable', label: 'An environment variable of its commands' },
  { value: 'git', label: 'The password of a git host' },
];

export function NewSecretDialog({ whose, open, onClose, onMade }: { whose: Whose; open: boolean; onClose: () => void; onMade: (secret: Secret) => void }) {
  return (
    <Dialog open={open} onOpenChange={(next) => next || onClose()} title={whose === 'org' ? 'New secret' : 'New secret of your own'}>
      <NewSecret whose={whose} onClose={onClose} onMade={onMade} />
    </Dialog>
  );
}

function NewSecret({ whose, onClose, onMade }: { whose: Whose; onClose: () => void; onMade: (secret: Secret) => void }) {
  const { org } = useSession();
  const form = useForm({
    initial: { name: '', kind: 'variable', value: '', host: '', username: '', description: '', scope: 'org', scopeValue: '' },
    schema: whose === 'org' ? CreateSecret : CreateOwnSecret,
    requestOf: ({ host, username, scope, scopeValue, ...values }) => ({
      ...values,
      ...(values.kind === 'git' || host !== '' ? { host } : {}),
      ...(values.kind === 'git' && username !== '' ? { username } : {}),
      ...(whose === 'org' ? { scope, ...(scope === 'org' ? {} : { scopeValue }) } : {}),
    }),
    send: (body) =>
      whose === 'org' ? api.createSecret({ org: org.id, body: body as CreateSecret }) : api.createMySecret({ org: org.id, body: body as CreateOwnSecret }),
    onDone: onMade,
  });
  const { values } = form;
  const place = SCOPE_VALUES[values.scope];
  return (
    <form {...form.props} className="flex flex-col gap-4 p-4">
      <Field label="What it is" error={form.error('kind')}>
        {(control) => <Select {...control} value={values.kind} options={KINDS} onChange={(kind) => form.set('kind', kind)} />}
      </Field>
      <Field label="Name" hint={values.kind === 'git' ? 'For people: git finds it by the host.' : 'As commands see it.'} error={form.error('name')}>
        {(control) => (
          <Input
            {...control}
            value={values.name}
            placeholder={values.kind === 'git' ? 'GITHUB' : 'DATABASE_PASSWORD'}
            autoComplete="off"
            spellCheck={false}
            className="font-mono"
            onChange={(event) => form.set('name', event.target.value)}
          />
        )}
      </Field>
      {values.kind === 'git' ? (
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Host" error={form.error('host')}>
            {(control) => (
              <Input
                {...control}
                value={values.host}
                placeholder="github.com"
                autoComplete="off"
                spellCheck={false}
                onChange={(event) => form.set('host', event.target.value)}
              />
            )}
          </Field>
          <Field label="User name" hint="GitHub and GitLab take any." error={form.error('username')}>
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
          label="Site for the browser"
          hint="The agent’s browser types it by name into pages of this host over https, and of no other. Empty: only into servers of the sandbox."
          error={form.error('host')}
        >
          {(control) => (
            <Input
              {...control}
              value={values.host}
              placeholder="login.example.com"
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => form.set('host', event.target.value)}
            />
          )}
        </Field>
      )}
      <ValueField value={values.value} error={form.error('value')} onChange={(value) => form.set('value', value)} />
      {whose === 'org' ? (
        <Field label="Who gets it" error={form.error('scope')}>
          {(control) => <Select {...control} value={values.scope} options={SCOPES} onChange={(scope) => form.set('scope', scope)} />}
        </Field>
      ) : null}
      {whose === 'org' && place !== undefined ? (
        <Field label={place.label} error={form.error('scopeValue')}>
          {(control) => (
            <Input
              {...control}
              value={values.scopeValue}
              placeholder={place.placeholder}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => form.set('scopeValue', event.target.value)}
            />
          )}
        </Field>
      ) : null}
      <Field label="Description" error={form.error('description')}>
        {(control) => (
          <Input {...control} value={values.description} maxLength={500} autoComplete="off" onChange={(event) => form.set('description', event.target.value)} />
        )}
      </Field>
      <FormFailure failure={form.failure} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" tone="primary" busy={form.busy}>
          Keep it
        </Button>
      </div>
    </form>
  );
}

/** Text of several lines cannot be a password field; it is covered until it is typed into. */
export function ValueField({ value, error, onChange }: { value: string; error: string | null; onChange: (value: string) => void }) {
  return (
    <Field label="Value" hint={`Hidden in what agents print when it has at least ${MIN_MASKED_LENGTH} characters. It is never shown again.`} error={error}>
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
