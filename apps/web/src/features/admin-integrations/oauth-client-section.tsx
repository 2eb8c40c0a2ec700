'use client';
import { type IntegrationConnection, type IntegrationProvider, type OAuthClient, SetOAuthClient } from '@slipway/contracts';
import { Button, ConfirmDialog, Dialog, Field, Input, Section } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { Ago } from '../../browser/ago.tsx';
import { ErrorNotice, FormFailure } from '../form/form-failure.tsx';
import { CopyLine } from '../form/secret-box.tsx';
import { useForm } from '../form/use-form.ts';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { guideOf } from './setup-steps.ts';

/** The OAuth application at the provider by which users of the organization link their accounts. */
export function OAuthClientSection({ connection, provider }: { connection: IntegrationConnection; provider: IntegrationProvider }) {
  const { org } = useSession();
  const queries = useQueryClient();
  const [doing, setDoing] = useState<'set' | 'delete' | null>(null);
  const key = ['integrations', org.id, connection.id, 'oauth-client'];
  const where = { org: org.id, connection: connection.id };
  const client = useQuery({ queryKey: key, queryFn: ({ signal }) => api.getOAuthClient({ ...where, signal }) });
  const remove = useMutation({
    mutationFn: () => api.deleteOAuthClient(where),
    onSuccess: () => done('The OAuth client is removed.'),
  });
  const done = (said: string) => {
    toast(said);
    setDoing(null);
    void queries.invalidateQueries({ queryKey: ['integrations', org.id] });
  };
  return (
    <Section
      title="OAuth client"
      description={`An application of yours at ${connection.host}. Through it users link their accounts, without which they cannot ask for work there${connection.authorizes ? ', and an admin connects the organization' : ''}.`}
    >
      <QueryPanel query={client} label="The OAuth client">
        {(data) => (
          <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 rounded-lg border border-line bg-surface px-4 py-3">
            {data.clientId === null ? (
              <p className="text-sm">No OAuth client is entered: nobody can link an account yet.</p>
            ) : (
              <p className="min-w-0 text-sm">
                Client id <code className="font-mono text-xs break-all">{data.clientId}</code>
                {data.setAt === null ? null : (
                  <span className="text-ink-muted">
                    , entered <Ago at={data.setAt} />
                  </span>
                )}
              </p>
            )}
            {org.permissions.includes('integration:write') ? (
              <span className="flex gap-2">
                <Button onClick={() => setDoing('set')}>{data.clientId === null ? 'Enter an OAuth client' : 'Replace'}</Button>
                {data.clientId === null ? null : (
                  <Button tone="danger" aria-label="Remove the OAuth client" onClick={() => setDoing('delete')}>
                    Remove
                  </Button>
                )}
              </span>
            ) : null}
            {doing === 'set' ? (
              <ClientDialog
                client={data}
                where={where}
                provider={provider}
                onClose={() => setDoing(null)}
                onDone={() => done('The OAuth client is kept. Users can link their accounts.')}
              />
            ) : null}
          </div>
        )}
      </QueryPanel>
      <ConfirmDialog
        open={doing === 'delete'}
        onOpenChange={(open) => open || setDoing(null)}
        title="Remove the OAuth client?"
        confirmLabel="Remove"
        busy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        <p>Nobody can link another account. Accounts that are linked stay linked.</p>
        <ErrorNotice error={remove.error} />
      </ConfirmDialog>
    </Section>
  );
}

/** For linking and for connecting. */
function scopesOf({ scopes, connectionScopes }: OAuthClient): readonly string[] {
  return [...new Set([...connectionScopes, ...scopes])];
}

function ClientDialog({
  client,
  where,
  provider,
  onClose,
  onDone,
}: {
  client: OAuthClient;
  where: { org: string; connection: string };
  provider: IntegrationProvider;
  onClose: () => void;
  onDone: () => void;
}) {
  const form = useForm({
    initial: { clientId: client.clientId ?? '', clientSecret: '' },
    schema: SetOAuthClient,
    requestOf: (values) => values,
    send: (body) => api.setOAuthClient({ ...where, body }),
    onDone,
  });
  const text = { autoComplete: 'off', spellCheck: false } as const;
  return (
    <Dialog open onOpenChange={(open) => open || onClose()} title={`OAuth client at ${provider.name}`} className="w-[min(560px,calc(100vw-32px))]">
      <form {...form.props} className="flex flex-col gap-4 p-4">
        <p className="text-sm">
          {guideOf(provider).oauthHint ?? `Register an OAuth application at ${provider.name}.`} Enter this callback address there
          {scopesOf(client).length === 0 ? '.' : `, with the scopes ${scopesOf(client).join(', ')}.`}
        </p>
        <CopyLine label="Callback address" text={client.callbackUrl} />
        <Field label="Client id" error={form.error('clientId')}>
          {(control) => (
            <Input {...control} {...text} data-autofocus value={form.values.clientId} onChange={(event) => form.set('clientId', event.target.value)} />
          )}
        </Field>
        <Field label="Client secret" hint="It is never shown again." error={form.error('clientSecret')}>
          {(control) => (
            <Input {...control} {...text} type="password" value={form.values.clientSecret} onChange={(event) => form.set('clientSecret', event.target.value)} />
          )}
        </Field>
        <FormFailure failure={form.failure} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" busy={form.busy}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
