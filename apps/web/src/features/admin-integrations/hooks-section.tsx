'use client';
import { InstallIntegrationHook, type IntegrationConnection, type IntegrationHook } from '@slipway/contracts';
import { Badge, Button, ConfirmDialog, Field, Input, Section } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { Ago } from '../../browser/ago.tsx';
import { ErrorNotice, FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';

/** Repositories whose webhook Slipway makes by itself, with the access token of the connection. */
export function HooksSection({ connection }: { connection: IntegrationConnection }) {
  const { org } = useSession();
  const queries = useQueryClient();
  const [removing, setRemoving] = useState<IntegrationHook | null>(null);
  const where = { org: org.id, connection: connection.id };
  const key = ['integrations', org.id, connection.id, 'hooks'];
  const hooks = useQuery({ queryKey: key, queryFn: ({ signal }) => api.listIntegrationHooks({ ...where, signal }) });
  const mayWrite = org.permissions.includes('integration:write');
  const done = (said: string) => {
    toast(said);
    setRemoving(null);
    void queries.invalidateQueries({ queryKey: ['integrations', org.id] });
  };
  const install = useMutation({
    mutationFn: (repository: string) => api.installIntegrationHook({ ...where, body: { repository } }),
    onSuccess: ({ repository }) => done(`The webhook of ${repository} is repaired.`),
  });
  const remove = useMutation({
    mutationFn: ({ id }: IntegrationHook) => api.removeIntegrationHook({ ...where, hook: id }),
    onSuccess: () => done('The webhook is removed.'),
  });
  return (
    <Section
      title="Webhooks"
      description={`Slipway makes the webhook of a repository at ${connection.host}, with address, events and secret. The access token must belong to somebody who administers the repository.`}
    >
      <QueryPanel query={hooks} label="The webhooks">
        {({ data }) => (
          <div className="flex flex-col gap-3 rounded-lg border border-line bg-surface p-4">
            {data.length === 0 ? (
              <p className="text-sm text-ink-muted">None is made yet. Webhooks that were entered at the provider by hand work, too, and are not listed.</p>
            ) : null}
            <ul className="flex flex-col gap-2">
              {data.map((hook) => (
                <li key={hook.id} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
                  <span className="min-w-0 text-sm break-words">
                    {hook.repository} {hook.state === 'old-secret' ? <Badge tone="warn">Old secret</Badge> : null}{' '}
                    <span className="text-ink-muted">
                      <Ago at={hook.installedAt} /> by {hook.installedBy.label}
                    </span>
                  </span>
                  {mayWrite ? (
                    <span className="flex gap-2">
                      <Button aria-label={`Repair the webhook of ${hook.repository}`} busy={install.isPending} onClick={() => install.mutate(hook.repository)}>
                        Repair
                      </Button>
                      <Button tone="danger" aria-label={`Remove the webhook of ${hook.repository}`} onClick={() => setRemoving(hook)}>
                        Remove
                      </Button>
                    </span>
                  ) : null}
                </li>
              ))}
            </ul>
            <ErrorNotice error={install.error} />
            {mayWrite ? <InstallForm where={where} onDone={(repository) => done(`The webhook of ${repository} is made.`)} /> : null}
          </div>
        )}
      </QueryPanel>
      <ConfirmDialog
        open={removing !== null}
        onOpenChange={(open) => open || setRemoving(null)}
        title={`Remove the webhook of ${removing?.repository ?? ''}?`}
        confirmLabel="Remove"
        busy={remove.isPending}
        onConfirm={() => removing !== null && remove.mutate(removing)}
      >
        <p>It is deleted at {connection.host}. Nothing that happens in the repository reaches Slipway any more.</p>
        <ErrorNotice error={remove.error} />
      </ConfirmDialog>
    </Section>
  );
}

function InstallForm({ where, onDone }: { where: { org: string; connection: string }; onDone: (repository: string) => void }) {
  const form = useForm({
    initial: { repository: '' },
    schema: InstallIntegrationHook,
    requestOf: (values) => values,
    send: (body) => api.installIntegrationHook({ ...where, body }),
    onDone: ({ repository }) => {
      form.set('repository', '');
      onDone(repository);
    },
  });
  return (
    <form {...form.props} className="flex flex-wrap items-end gap-2">
      <Field label="Repository" error={form.error('repository')} className="min-w-56 grow">
        {(control) => (
          <Input
            {...control}
            autoComplete="off"
            spellCheck={false}
            placeholder="owner/name"
            value={form.values.repository}
            onChange={(event) => form.set('repository', event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" tone="primary" busy={form.busy}>
        Make the webhook
      </Button>
      <div className="w-full">
        <FormFailure failure={form.failure} />
      </div>
    </form>
  );
}
