'use client';
import {
  InstallIntegrationHook,
  type IntegrationConnection,
  type IntegrationHook,
  type IntegrationHookList,
} from '@slipway/contracts/integrations';
import { Badge, Button, ConfirmDialog, Field, Input, Notice, Section } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { asAgo } from '../../browser/ago.tsx';
import { ErrorNotice, FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { HOOK_STATES_SHOWN, hooksSummary } from './connection-words.ts';
import { HookSelectionForm } from './hook-selection-form.tsx';

/** While webhooks are being made. Milliseconds. */
const BUSY_REFRESH_MS = 3_000;
const REFRESH_MS = 60_000;

/**
 * Repositories whose webhook Slipway makes by itself, with the access token of the connection, and what became of each.
 */
export function HooksSection({
  connection,
  isSignedByKind,
}: {
  connection: IntegrationConnection;
  isSignedByKind: boolean;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const [removing, setRemoving] = useState<IntegrationHook | null>(null);
  const where = { org: org.id, connection: connection.id };
  const key = ['integrations', org.id, connection.id, 'hooks'];
  const hooks = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => api.listIntegrationHooks({ ...where, signal }),
    refetchInterval: ({ state }) => (isBusy(state.data) ? BUSY_REFRESH_MS : REFRESH_MS),
  });
  const mayWrite = org.permissions.includes('integration:write');
  const done = (said: string) => {
    toast(said);
    setRemoving(null);
    void queries.invalidateQueries({ queryKey: ['integrations', org.id] });
  };
  const install = useMutation({
    mutationFn: (repository: string) => api.installIntegrationHook({ ...where, body: { repository } }),
    onSuccess: ({ repository }) => done(t('adminIntegrations.webhookOfRepaired', { repository })),
  });
  const repair = useMutation({
    mutationFn: () => api.repairIntegrationHooks(where),
    onSuccess: () => done(t('adminIntegrations.recreatingTheWebhooks')),
  });
  return (
    <Section
      title={t('adminIntegrations.webhooks')}
      description={t('adminIntegrations.slipwayCreatesWebhooksAtWith', { host: connection.host })}
    >
      <QueryPanel query={hooks} label={t('adminIntegrations.theWebhooks')}>
        {({ data, selection }) => (
          <div className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-4">
            {isSignedByKind ? null : (
              <Notice tone="warn" title={t('adminIntegrations.deliveriesAreNotSigned')}>
                {t('adminIntegrations.doesNotSignWebhooksDeliveries', { host: connection.host })}
              </Notice>
            )}
            {mayWrite ? <HookSelectionForm where={where} selection={selection} onDone={done} /> : null}
            {data.length === 0 ? (
              <p className="text-sm text-ink-muted">{t('adminIntegrations.noWebhooksYetWebhooksYou')}</p>
            ) : (
              <div className="flex flex-wrap items-center justify-between gap-2">
                <p className="text-sm text-ink-muted">{hooksSummary(t, data)}</p>
                {mayWrite ? (
                  <Button busy={repair.isPending} onClick={() => repair.mutate()}>
                    {t('adminIntegrations.repairAll')}
                  </Button>
                ) : null}
              </div>
            )}
            <ErrorNotice error={repair.error ?? install.error} />
            <ul className="flex max-h-96 flex-col gap-2 overflow-y-auto">
              {data.map((hook) => (
                <li key={hook.id} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
                  <HookLine hook={hook} />
                  {mayWrite ? (
                    <HookButtons
                      hook={hook}
                      isRepairing={install.isPending}
                      onRepair={() => install.mutate(hook.repository)}
                      onRemove={() => setRemoving(hook)}
                    />
                  ) : null}
                </li>
              ))}
            </ul>
            {mayWrite ? (
              <InstallForm
                where={where}
                onDone={(repository) => done(t('adminIntegrations.webhookOfCreated', { repository }))}
              />
            ) : null}
          </div>
        )}
      </QueryPanel>
      <RemoveHookDialog
        hook={removing}
        connection={connection}
        onClose={() => setRemoving(null)}
        onRemoved={() => done(t('adminIntegrations.webhookRemoved'))}
      />
    </Section>
  );
}

function isBusy(list: IntegrationHookList | undefined): boolean {
  if (list === undefined) return false;
  const { data, selection } = list;
  return data.some(({ state }) => state === 'queued') || (selection.patterns.length > 0 && selection.listedAt === null);
}

function HookLine({ hook }: { hook: IntegrationHook }) {
  const t = useTranslations();
  const { label, tone } = HOOK_STATES_SHOWN[hook.state];
  return (
    <span className="flex min-w-0 flex-col gap-0.5 text-sm break-words">
      <span>
        {hook.repository} <Badge tone={tone}>{t(label)}</Badge>{' '}
        <span className="text-ink-muted">
          {t.rich('adminIntegrations.by2', {
            checkedAt: hook.checkedAt ?? hook.installedAt,
            ago: asAgo,
            label: hook.installedBy.label,
          })}
        </span>
      </span>
      {hook.detail === null ? null : <span className="text-ink-muted">{hook.detail}</span>}
    </span>
  );
}

function HookButtons({
  hook: { repository },
  isRepairing,
  onRepair,
  onRemove,
}: {
  hook: IntegrationHook;
  isRepairing: boolean;
  onRepair: () => void;
  onRemove: () => void;
}) {
  const t = useTranslations();
  return (
    <span className="flex gap-2">
      <Button
        aria-label={t('adminIntegrations.repairTheWebhookOf', { repository })}
        busy={isRepairing}
        onClick={onRepair}
      >
        {t('adminIntegrations.repair')}
      </Button>
      <Button tone="danger" aria-label={t('adminIntegrations.removeTheWebhookOf', { repository })} onClick={onRemove}>
        {t('adminIntegrations.remove')}
      </Button>
    </span>
  );
}

/** @param hook `null`: closed. */
function RemoveHookDialog({
  hook,
  connection,
  onClose,
  onRemoved,
}: {
  hook: IntegrationHook | null;
  connection: IntegrationConnection;
  onClose: () => void;
  onRemoved: () => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const remove = useMutation({
    mutationFn: ({ id }: IntegrationHook) =>
      api.removeIntegrationHook({ org: org.id, connection: connection.id, hook: id }),
    onSuccess: onRemoved,
  });
  return (
    <ConfirmDialog
      open={hook !== null}
      onOpenChange={(open) => open || onClose()}
      title={t('adminIntegrations.removeTheWebhookOf2', { repository: hook?.repository ?? '' })}
      confirmLabel={t('adminIntegrations.remove')}
      busy={remove.isPending}
      onConfirm={() => hook !== null && remove.mutate(hook)}
    >
      <p>{t('adminIntegrations.theWebhookIsDeletedAt', { host: connection.host })}</p>
      <ErrorNotice error={remove.error} />
    </ConfirmDialog>
  );
}

function InstallForm({
  where,
  onDone,
}: {
  where: { org: string; connection: string };
  onDone: (repository: string) => void;
}) {
  const t = useTranslations();
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
      <Field label={t('common.repository')} error={form.error('repository')} className="min-w-56 grow">
        {(control) => (
          <Input
            {...control}
            autoComplete="off"
            spellCheck={false}
            placeholder={t('adminIntegrations.ownerName')}
            value={form.values.repository}
            onChange={(event) => form.set('repository', event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" tone="primary" busy={form.busy}>
        {t('adminIntegrations.createWebhook')}
      </Button>
      <div className="w-full">
        <FormFailure failure={form.failure} />
      </div>
    </form>
  );
}
