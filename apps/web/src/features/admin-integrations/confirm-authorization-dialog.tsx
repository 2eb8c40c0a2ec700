'use client';
import type { IntegrationConnection, PendingAuthorization } from '@slipway/contracts/integrations';
import { Button, Dialog } from '@slipway/ui';
import { useMutation, useQuery } from '@tanstack/react-query';
import { ArrowRight } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { asAhead } from '../../browser/ago.tsx';
import { ErrorNotice } from '../form/form-failure.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';

/** Names whom the connection will act as, before anything counts. */
export function ConfirmAuthorizationDialog({
  id,
  connection,
  onClose,
  onDone,
}: {
  id: string;
  connection: IntegrationConnection;
  onClose: () => void;
  onDone: () => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const where = { org: org.id, connection: connection.id, authorization: id };
  const pending = useQuery({
    queryKey: ['integrations', org.id, connection.id, 'authorization', id],
    queryFn: ({ signal }) => api.getConnectionAuthorization({ ...where, signal }),
    retry: false,
  });
  const confirm = useMutation({
    mutationFn: () => api.confirmConnectionAuthorization(where),
    onSuccess: () => {
      toast(t('adminIntegrations.isConnected', { name: connection.name }));
      onDone();
    },
  });
  const decline = useMutation({ mutationFn: () => api.declineConnectionAuthorization(where), onSuccess: onClose });
  return (
    <Dialog open onOpenChange={(open) => open || onClose()} title={t('adminIntegrations.connectAsThisAccount')}>
      <div className="flex flex-col gap-4 p-4">
        {pending.error === null ? null : (
          <>
            <p className="text-sm">{t('adminIntegrations.thisAuthorizationHasExpiredOr')}</p>
            <div className="flex justify-end">
              <Button onClick={onClose}>{t('common.close')}</Button>
            </div>
          </>
        )}
        {pending.error !== null ? null : (
          <QueryPanel query={pending} label={t('adminIntegrations.theAuthorization')}>
            {(found) => (
              <>
                <Parties found={found} connection={connection} />
                <Consequences found={found} connection={connection} />
                <p className="text-xs text-ink-muted">
                  {t.rich('adminIntegrations.expires', { expiresAt: found.expiresAt, ahead: asAhead })}
                </p>
                <ErrorNotice error={confirm.error ?? decline.error} />
                <div className="flex justify-end gap-2">
                  <Button busy={decline.isPending} onClick={() => decline.mutate()}>
                    {t('common.cancel')}
                  </Button>
                  <Button tone="primary" busy={confirm.isPending} onClick={() => confirm.mutate()}>
                    {t('adminIntegrations.connect')}
                  </Button>
                </div>
              </>
            )}
          </QueryPanel>
        )}
      </div>
    </Dialog>
  );
}

function Parties({ found, connection }: { found: PendingAuthorization; connection: IntegrationConnection }) {
  const t = useTranslations();
  const { org } = useSession();
  return (
    <div className="grid gap-3 sm:grid-cols-[minmax(0,1fr)_auto_minmax(0,1fr)]">
      <Party
        label={t('adminIntegrations.at', { host: connection.host })}
        name={found.name}
        detail={[found.accountName ?? found.account, t('adminIntegrations.id2', { ids: found.ids[0] ?? '' })]
          .filter(Boolean)
          .join(', ')}
      />
      <ArrowRight aria-hidden className="size-4 self-center justify-self-center text-ink-muted max-sm:rotate-90" />
      <Party label={t('adminIntegrations.inSlipway')} name={connection.name} detail={org.name} />
    </div>
  );
}

function Party({ label, name, detail }: { label: string; name: string; detail: string }) {
  return (
    <div className="min-w-0 rounded-lg border border-line bg-raised px-3 py-2">
      <p className="text-xs text-ink-muted">{label}</p>
      <p className="font-medium break-words">{name}</p>
      <p className="text-xs break-words text-ink-muted">{detail}</p>
    </div>
  );
}

function Consequences({ found, connection }: { found: PendingAuthorization; connection: IntegrationConnection }) {
  const t = useTranslations();
  return (
    <div className="flex flex-col gap-2 text-sm">
      <p>{t('adminIntegrations.slipwayThenReadsAndWrites', { host: connection.host, name: found.name })}</p>
      {found.mention === null || found.mention === connection.own.mention ? null : (
        <p>{t('adminIntegrations.usersAskForWorkBy', { mention: found.mention })}</p>
      )}
      {found.accountBefore === null ? null : (
        <p className="text-warn">
          {t('adminIntegrations.thisIsADifferentWorkspace', { accountBefore: found.accountBefore })}
        </p>
      )}
      {found.missingScopes.length === 0 ? null : (
        <p className="text-warn">
          {t('adminIntegrations.notGrantedFeaturesThatNeed', { missingScopes: found.missingScopes.join(', ') })}
        </p>
      )}
      {connection.credential === null ? null : <p>{t('adminIntegrations.theConnectionsCurrentCredentialIs')}</p>}
    </div>
  );
}
