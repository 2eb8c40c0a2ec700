'use client';
import { type IntegrationProvider, RegisterApp } from '@slipway/contracts';
import { Button, Field, Input } from '@slipway/ui';
import { api } from '../../api/client.ts';
import { FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';
import { goTo } from './go-to.ts';

/** Begins to register an app of the organization; the provider asks to confirm it, and sends back to the connection that is made. */
export function RegisterAppForm({ provider, onClose }: { provider: IntegrationProvider; onClose: () => void }) {
  const { org } = useSession();
  const form = useForm({
    initial: { name: `Slipway ${org.name}`.slice(0, 34).trim(), host: '', owner: '', baseUrl: '' },
    schema: RegisterApp,
    requestOf: ({ name, host, owner, baseUrl }) => ({
      provider: provider.id,
      name,
      ...(host.trim() === '' ? {} : { host: host.trim() }),
      ...(owner.trim() === '' ? {} : { owner: owner.trim() }),
      ...(baseUrl.trim() === '' ? {} : { baseUrl: baseUrl.trim() }),
    }),
    send: (body) => api.registerIntegrationApp({ org: org.id, body }),
    onDone: ({ url }) => goTo(url),
  });
  const input = (field: 'name' | 'host' | 'owner' | 'baseUrl', label: string, hint: string, placeholder = '') => (
    <Field label={label} hint={hint} error={form.error(field)}>
      {(control) => (
        <Input
          {...control}
          value={form.values[field]}
          placeholder={placeholder}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          onChange={(event) => form.set(field, event.target.value)}
        />
      )}
    </Field>
  );
  return (
    <form {...form.props} className="flex flex-col gap-4">
      <p className="text-sm text-ink-muted">
        {provider.name} shows the app with its permissions and asks you to confirm it. Then you install it on the repositories. Slipway needs neither an access
        token nor webhooks of yours.
      </p>
      {input('name', 'Name', `Of the app and of the connection. ${provider.name} takes each name once.`)}
      {input('owner', 'Organization at the provider', 'Its login. Empty: the app belongs to your own account there.', 'acme')}
      {input('host', 'Host', `Empty: ${provider.host ?? 'none'}. Of an installation of your own: its host.`, provider.host ?? '')}
      <details open={form.error('baseUrl') !== null || undefined} className="rounded-md border border-line px-3">
        <summary className="cursor-pointer py-2 text-sm font-medium">More settings</summary>
        <div className="pb-3">{input('baseUrl', 'Base address', 'Where its pages are, if not at https:// and the host.', 'https://github.example.com')}</div>
      </details>
      <FormFailure failure={form.failure} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" tone="primary" busy={form.busy}>
          Create a {provider.name} App
        </Button>
      </div>
    </form>
  );
}
