'use client';
import type { IntegrationConnection, IntegrationProvider } from '@slipway/contracts/integrations';
import { Button, ConfirmDialog, Notice, Section } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { failureOfCode } from '../../api/failure.ts';
import { useAddressValue } from '../../browser/address.ts';
import { Ago, Ahead, asAhead } from '../../browser/ago.tsx';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';
import { ConfirmAuthorizationDialog } from './confirm-authorization-dialog.tsx';
import { healthOf, kindOf } from './credential-words.ts';

const TONES = { warn: 'text-warn', bad: 'text-bad' } as const;

/** What the connection calls its provider with, how that fares, and the ways to another. */
export function CredentialSection({
  connection,
  provider,
  onChanged,
}: {
  connection: IntegrationConnection;
  provider: IntegrationProvider;
  onChanged: () => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const [confirming, setConfirming] = useAddressValue('authorization');
  const [problem, setProblem] = useAddressValue('problem');
  const [disconnecting, setDisconnecting] = useState(false);
  const where = { org: org.id, connection: connection.id };
  const begin = useMutation({
    mutationFn: () => api.beginConnectionAuthorization(where),
    onSuccess: ({ authorizeUrl }) => {
      if (/^https?:\/\//.test(authorizeUrl)) window.location.assign(authorizeUrl);
    },
  });
  const mayChange = org.permissions.includes('integration:write');
  const { credential, authorizes, oauthClientSetAt } = connection;
  return (
    <Section
      title={t('adminIntegrations.credential')}
      description={t('adminIntegrations.whatSlipwayUsesToCall', {
        host: connection.host,
        authorizes: authorizes ? t('adminIntegrations.withOauthSlipwayActsAs') : '',
      })}
    >
      {problem === null ? null : <Problem code={problem} onDismiss={() => setProblem(null)} />}
      <ErrorNotice error={begin.error} />
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 rounded-lg border border-line bg-surface px-4 py-3">
        <div className="min-w-0 text-sm">
          <CredentialLine credential={credential} />
          {healthOf(t, credential, provider, Date.now()).map(({ tone, text }) => (
            <p key={text} className={`${TONES[tone]} break-words`} suppressHydrationWarning>
              {text}
            </p>
          ))}
          {authorizes && oauthClientSetAt === null ? (
            <p className="text-ink-muted">{t('adminIntegrations.toConnectWithOauthAdd')}</p>
          ) : null}
          {connection.appHook === null ? null : <HookLine connection={connection} />}
        </div>
        {mayChange ? (
          <span className="flex flex-wrap gap-2">
            {authorizes ? (
              <Button
                tone={credential === null || connection.state === 'needs-attention' ? 'primary' : 'plain'}
                disabled={oauthClientSetAt === null}
                busy={begin.isPending || begin.isSuccess}
                onClick={() => begin.mutate()}
              >
                {credential?.kind === 'oauth-tokens'
                  ? t('adminIntegrations.connectAgain')
                  : t('adminIntegrations.connectWithOauth')}
              </Button>
            ) : null}
            {credential === null ? null : (
              <Button tone="danger" onClick={() => setDisconnecting(true)}>
                {t('adminIntegrations.disconnect')}
              </Button>
            )}
          </span>
        ) : null}
      </div>
      {confirming === null || !mayChange ? null : (
        <ConfirmAuthorizationDialog
          id={confirming}
          connection={connection}
          onClose={() => setConfirming(null)}
          onDone={() => {
            setConfirming(null);
            onChanged();
          }}
        />
      )}
      {disconnecting ? (
        <DisconnectDialog connection={connection} onClose={() => setDisconnecting(false)} onDone={onChanged} />
      ) : null}
    </Section>
  );
}

function CredentialLine({ credential }: Pick<IntegrationConnection, 'credential'>) {
  const t = useTranslations();
  return (
    <p>
      {credential === null ? (
        t('adminIntegrations.noCredential')
      ) : (
        <>
          {kindOf(t, credential)}
          <span className="text-ink-muted">
            ,{' '}
            {credential.kind === 'token'
              ? t('adminIntegrations.entered')
              : credential.renews
                ? t('adminIntegrations.renewedLast')
                : t('adminIntegrations.since')}{' '}
            <Ago at={credential.setAt} />
            {credential.expiresAt === null ? null : (
              <>
                , {credential.renews ? t('adminIntegrations.validUntil') : t('adminIntegrations.expires3')}{' '}
                <Ahead at={credential.expiresAt} />
              </>
            )}
          </span>
        </>
      )}
    </p>
  );
}

function HookLine({ connection: { appHook } }: { connection: IntegrationConnection }) {
  const t = useTranslations();
  if (appHook === null) return null;
  return (
    <p className={appHook.problem === null ? 'text-ink-muted' : 'break-words text-warn'}>
      {appHook.expiresAt === null
        ? t('adminIntegrations.theAppsWebhookIsMissing')
        : t.rich('adminIntegrations.theAppsWebhookIsValid', { expiresAt: appHook.expiresAt, ahead: asAhead })}{' '}
      {appHook.problem}
    </p>
  );
}

function Problem({ code, onDismiss }: { code: string; onDismiss: () => void }) {
  const t = useTranslations();
  const { title, nextStep } = failureOfCode(code);
  return (
    <Notice tone="bad" title={title} action={<Button onClick={onDismiss}>{t('adminIntegrations.dismiss')}</Button>}>
      {t('adminIntegrations.theConnectionIsUnchanged', { nextStep })}
    </Notice>
  );
}

function DisconnectDialog({
  connection,
  onClose,
  onDone,
}: {
  connection: IntegrationConnection;
  onClose: () => void;
  onDone: () => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const disconnect = useMutation({
    mutationFn: () => api.deleteConnectionCredential({ org: org.id, connection: connection.id }),
    onSuccess: () => {
      toast(t('adminIntegrations.disconnected', { name: connection.name }));
      onDone();
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('adminIntegrations.disconnect2', { name: connection.name })}
      confirmLabel={t('adminIntegrations.disconnect')}
      busy={disconnect.isPending}
      onConfirm={() => disconnect.mutate()}
    >
      <p>
        {t('adminIntegrations.slipwayDeletesTheCredentialDeliveries', {
          host:
            connection.credential?.kind === 'oauth-tokens'
              ? t('adminIntegrations.andRevokesItAt', { host: connection.host })
              : '',
        })}
      </p>
      <ErrorNotice error={disconnect.error} />
    </ConfirmDialog>
  );
}
