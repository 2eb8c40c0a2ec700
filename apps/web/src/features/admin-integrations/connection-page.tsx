'use client';
import type { IntegrationConnection, IntegrationProvider } from '@slipway/contracts/integrations';
import { Badge, Notice } from '@slipway/ui';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import { api } from '../../api/client.ts';
import { Ago, asAgo, asAhead } from '../../browser/ago.tsx';
import { CopyLine } from '../form/secret-box.tsx';
import { Page } from '../frame/page.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { AppSection } from './app-section.tsx';
import { ConnectionActions } from './connection-actions.tsx';
import { CONNECTION_STATES_SHOWN } from './connection-words.ts';
import { CredentialSection } from './credential-section.tsx';
import { Deliveries } from './deliveries.tsx';
import { HooksSection } from './hooks-section.tsx';
import { LimitsNotice } from './limits-notice.tsx';
import { OAuthClientSection } from './oauth-client-section.tsx';
import { guideOf, setupOf } from './setup-steps.ts';
import { Steps } from './steps.tsx';
import { useProviders } from './use-providers.ts';

/** How often the state is read again while the page is looked at. Milliseconds. */
const REFRESH_MS = 15_000;

export function ConnectionPage({ id }: { id: string }) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const providers = useProviders();
  const connection = useQuery({
    queryKey: ['integrations', org.id, id],
    queryFn: ({ signal }) => api.getIntegrationConnection({ org: org.id, connection: id, signal }),
    refetchInterval: REFRESH_MS,
  });
  const provider = providers.data?.data.find((each) => each.id === connection.data?.provider);
  const changed = () => {
    void queries.invalidateQueries({ queryKey: ['integrations', org.id] });
    void queries.invalidateQueries({ queryKey: ['deliveries', org.id, id] });
  };
  return (
    <Page
      title={connection.data?.name ?? t('adminIntegrations.integration')}
      description={
        <>
          {connection.data === undefined
            ? null
            : t('adminIntegrations.at2', {
                name: provider?.name ?? connection.data.provider,
                host: connection.data.host,
              })}
          <Link href={`/${org.slug}/admin/integrations`} className="text-accent underline underline-offset-2">
            {t('adminIntegrations.allIntegrations')}
          </Link>
        </>
      }
      action={
        connection.data !== undefined && provider !== undefined && org.permissions.includes('integration:write') ? (
          <ConnectionActions connection={connection.data} provider={provider} onChanged={changed} />
        ) : null
      }
    >
      <QueryPanel query={connection} label={t('adminIntegrations.theConnection')}>
        {(data) => (
          <div className="flex flex-col gap-8">
            {data.app === null || data.state === 'disabled' ? <StateNotice connection={data} /> : null}
            {provider === undefined ? null : <LimitsNotice provider={provider} />}
            {data.app === null ? null : <AppSection connection={data} app={data.app} provider={provider} />}
            <Facts connection={data} provider={provider} />
            {provider !== undefined &&
            data.app === null &&
            (provider.takesToken || data.authorizes || data.credential !== null) ? (
              <CredentialSection connection={data} provider={provider} onChanged={changed} />
            ) : null}
            {provider?.makesHooks === true && data.app === null && data.credential !== null ? (
              <HooksSection connection={data} isSignedByKind={isSignedByKind(data, provider)} />
            ) : null}
            {provider?.linking === true ? <OAuthClientSection connection={data} provider={provider} /> : null}
            <Deliveries connection={data} />
          </div>
        )}
      </QueryPanel>
    </Page>
  );
}

/** Whether its deliveries have the signature that its kind promises: some hosts of a provider send none. */
function isSignedByKind({ kind, signature }: IntegrationConnection, { connections }: IntegrationProvider): boolean {
  return connections.find((each) => each.kind === kind)?.signature === signature;
}

/** What is to be done, where something is. */
function StateNotice({ connection: { state, stateReason, authorizes } }: { connection: IntegrationConnection }) {
  const t = useTranslations();
  if (state === 'needs-attention')
    return (
      <Notice tone="bad" title={t('adminIntegrations.theConnectionNeedsAttention')}>
        {stateReason ?? t('adminIntegrations.theAccessTokenIsNo')}{' '}
        {t('adminIntegrations.untilThisIsFixedRequests', {
          authorizes: authorizes
            ? t('adminIntegrations.connectWithOauthAgainOr')
            : t('adminIntegrations.enterAnotherTokenUnderEdit'),
        })}
      </Notice>
    );
  if (state === 'disabled')
    return (
      <Notice tone="warn" title={t('adminIntegrations.theConnectionIsDisabled')}>
        {t('adminIntegrations.deliveriesAreStoredButNot')}
      </Notice>
    );
  if (state === 'unverified')
    return (
      <Notice tone="warn" title={t('adminIntegrations.waitingForTheFirstDelivery')}>
        {t('adminIntegrations.noDeliverySignedWithThis')}
      </Notice>
    );
  return null;
}

function Facts({
  connection,
  provider,
}: {
  connection: IntegrationConnection;
  provider: IntegrationProvider | undefined;
}) {
  const t = useTranslations();
  const { settings, own } = connection;
  const { label, tone } = CONNECTION_STATES_SHOWN[connection.state];
  const setup =
    provider === undefined || connection.app !== null ? undefined : setupOf(guideOf(t, provider), connection.kind);
  return (
    <div className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-4">
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-2 text-sm md:grid-cols-[auto_minmax(0,1fr)_auto_minmax(0,1fr)]">
        <Fact name={t('common.state')}>
          <Badge tone={tone}>{t(label)}</Badge>
        </Fact>
        <Fact name={t('adminIntegrations.lastDelivery')}>
          {connection.lastDeliveryAt === null ? t('common.never') : <Ago at={connection.lastDeliveryAt} />}
        </Fact>
        <Fact name={t('adminIntegrations.verified')}>
          {connection.verifiedAt === null ? t('adminIntegrations.notYet') : <Ago at={connection.verifiedAt} />}
        </Fact>
        <Fact name={t('adminIntegrations.labels')}>{settings.labels.join(', ') || t('common.none2')}</Fact>
        <Fact name={t('adminIntegrations.mention')}>@{own.mention}</Fact>
        <Fact name={t('adminIntegrations.defaultRepository')}>{settings.defaultRepository ?? t('common.none2')}</Fact>
        <Fact name={t('adminIntegrations.connected')}>
          {t.rich('adminIntegrations.by', {
            createdAt: connection.createdAt,
            ago: asAgo,
            label: connection.createdBy.label,
          })}
        </Fact>
        {connection.oldSecretUntil === null ? null : (
          <Fact name={t('adminIntegrations.oldSecret')}>
            {t.rich('adminIntegrations.expires2', { oldSecretUntil: connection.oldSecretUntil, ahead: asAhead })}
          </Fact>
        )}
      </dl>
      {connection.address === null && connection.signature !== 'socket' ? (
        <p className="text-sm text-ink-muted">{t('adminIntegrations.deliveriesArriveThroughThisInstallations')}</p>
      ) : (
        <>
          {connection.address === null ? (
            <p className="text-sm text-ink-muted">{t('adminIntegrations.deliveriesArriveOverASocket')}</p>
          ) : (
            <CopyLine label={t('common.address')} text={connection.address} />
          )}
          {setup === undefined ? null : (
            <details open={connection.state === 'unverified' || undefined}>
              <summary className="cursor-pointer py-1 text-sm text-ink-muted">
                {t('adminIntegrations.stepsAt', { name: provider?.name ?? '' })}
              </summary>
              <div className="pt-1">
                <Steps label={t('adminIntegrations.stepsAt', { name: provider?.name ?? '' })} setup={setup} />
              </div>
            </details>
          )}
        </>
      )}
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-muted">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}
