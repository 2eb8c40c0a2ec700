'use client';
import type { LinkableConnection, LinkedAccount } from '@slipway/contracts/identity';
import { Badge, Button, type Column, ConfirmDialog, EmptyState, Notice, Section, Table } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { failureOfCode } from '../../api/failure.ts';
import { useAddressValue } from '../../browser/address.ts';
import { Ago } from '../../browser/ago.tsx';
import type { Translate } from '../../messages/translate.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { Page } from '../frame/page.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { ConfirmLinkDialog } from './confirm-link-dialog.tsx';
import { keyOf, stillToLink } from './linkable.ts';

const KEY = ['linked-accounts'];

/** Accounts at providers that this user has shown to be theirs. */
export function LinkedAccounts() {
  const t = useTranslations();
  const queries = useQueryClient();
  const [confirming, setConfirming] = useAddressValue('confirm');
  const [problem, setProblem] = useAddressValue('problem');
  const [unlinking, setUnlinking] = useState<LinkedAccount | null>(null);
  const accounts = useQuery({ queryKey: KEY, queryFn: ({ signal }) => api.listLinkedAccounts({ signal }) });
  const pending = accounts.data?.data.find(({ id, state }) => id === confirming && state === 'pending');
  const changed = () => void queries.invalidateQueries({ queryKey: KEY });
  return (
    <Page title={t('common.linkedAccounts')} description={t('settingsLinkedAccounts.yourAccountsAtGitHosts')}>
      {problem === null ? null : <Problem code={problem} onDismiss={() => setProblem(null)} />}
      {confirming === null || accounts.data === undefined || pending !== undefined ? null : (
        <Notice
          tone="warn"
          title={t('settingsLinkedAccounts.thisLinkRequestHasExpired')}
          action={<Button onClick={() => setConfirming(null)}>{t('settingsLinkedAccounts.dismiss')}</Button>}
        >
          {t('settingsLinkedAccounts.nothingWasLinkedStartAgain')}
        </Notice>
      )}
      <QueryPanel query={accounts} label={t('settingsLinkedAccounts.yourLinkedAccounts')}>
        {({ data, linkable }) => (
          <div className="flex flex-col gap-8">
            {data.length === 0 ? (
              <EmptyState
                title={t('settingsLinkedAccounts.noLinkedAccounts')}
                className="rounded-lg border border-line"
              >
                {linkable.length === 0
                  ? t('settingsLinkedAccounts.noneOfYourOrganizationsHas')
                  : t('settingsLinkedAccounts.linkAnAccountBelowUntil')}
              </EmptyState>
            ) : (
              <Table
                label={t('common.linkedAccounts')}
                columns={columns(t, setUnlinking, (id) => setConfirming(id))}
                rows={data}
                rowKey={({ id }) => id}
              />
            )}
            <Linkable connections={stillToLink(linkable, data)} />
          </div>
        )}
      </QueryPanel>
      {pending === undefined ? null : (
        <ConfirmLinkDialog link={pending} onClose={() => setConfirming(null)} onChanged={changed} />
      )}
      {unlinking === null ? null : (
        <UnlinkDialog account={unlinking} onClose={() => setUnlinking(null)} onDone={changed} />
      )}
    </Page>
  );
}

function Problem({ code, onDismiss }: { code: string; onDismiss: () => void }) {
  const t = useTranslations();
  const failure = failureOfCode(code);
  return (
    <Notice
      tone="bad"
      title={failure.title}
      action={<Button onClick={onDismiss}>{t('settingsLinkedAccounts.dismiss')}</Button>}
    >
      {t('settingsLinkedAccounts.nothingWasLinked', { nextStep: failure.nextStep })}
    </Notice>
  );
}

function columns(
  t: Translate,
  unlink: (account: LinkedAccount) => void,
  confirm: (id: string) => void,
): Column<LinkedAccount>[] {
  return [
    {
      label: t('settingsLinkedAccounts.account'),
      phone: 'title',
      cell: (account) => (
        <span className="block min-w-0">
          <span className="block font-medium break-words">{account.login}</span>
          <span className="block text-xs break-words text-ink-muted">
            {t('settingsLinkedAccounts.atId', {
              providerName: account.providerName,
              host: account.host,
              externalUserId: account.externalUserId,
            })}
          </span>
        </span>
      ),
    },
    {
      label: t('settingsLinkedAccounts.organization'),
      cell: (account) => <span className="break-words">{account.orgName}</span>,
    },
    {
      label: t('settingsLinkedAccounts.linked'),
      className: 'md:whitespace-nowrap',
      cell: (account) =>
        account.linkedAt === null ? (
          <Badge tone="warn">{t('settingsLinkedAccounts.waitingForYou')}</Badge>
        ) : (
          <Ago at={account.linkedAt} />
        ),
    },
    {
      label: t('common.actions'),
      unnamed: true,
      align: 'end',
      phone: 'actions',
      cell: (account) =>
        account.state === 'pending' ? (
          <Button
            size="small"
            aria-label={t('settingsLinkedAccounts.confirm', { login: account.login })}
            onClick={() => confirm(account.id)}
          >
            {t('settingsLinkedAccounts.confirm2')}
          </Button>
        ) : (
          <Button
            size="small"
            tone="danger"
            aria-label={t('settingsLinkedAccounts.unlinkAtIn', {
              login: account.login,
              host: account.host,
              orgName: account.orgName,
            })}
            onClick={() => unlink(account)}
          >
            {t('settingsLinkedAccounts.unlink')}
          </Button>
        ),
    },
  ];
}

/** Where another account can be linked: each leads to the provider and back. */
function Linkable({ connections }: { connections: readonly LinkableConnection[] }) {
  const t = useTranslations();
  const begin = useMutation({
    mutationFn: ({ orgId, connectionId }: LinkableConnection) => api.beginLink({ body: { org: orgId, connectionId } }),
    onSuccess: ({ authorizeUrl }) => {
      if (/^https?:\/\//.test(authorizeUrl)) window.location.assign(authorizeUrl);
    },
  });
  if (connections.length === 0) return null;
  return (
    <Section
      title={t('settingsLinkedAccounts.linkAnAccount')}
      description={t('settingsLinkedAccounts.signInThereReturnHere')}
    >
      <ErrorNotice error={begin.error} />
      <ul className="flex flex-col divide-y divide-line rounded-lg border border-line bg-surface">
        {connections.map((connection) => (
          <li key={keyOf(connection)} className="flex items-center justify-between gap-4 px-4 py-2.5">
            <span className="min-w-0">
              <span className="block text-sm font-medium break-words">
                {t('settingsLinkedAccounts.at2', { providerName: connection.providerName, host: connection.host })}
              </span>
              <span className="block text-xs break-words text-ink-muted">{connection.orgName}</span>
            </span>
            <Button
              aria-label={t('settingsLinkedAccounts.linkAnAccountAtIn', {
                host: connection.host,
                orgName: connection.orgName,
              })}
              busy={(begin.isPending || begin.isSuccess) && begin.variables.connectionId === connection.connectionId}
              onClick={() => begin.mutate(connection)}
            >
              {t('settingsLinkedAccounts.link')}
            </Button>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function UnlinkDialog({
  account,
  onClose,
  onDone,
}: {
  account: LinkedAccount;
  onClose: () => void;
  onDone: () => void;
}) {
  const t = useTranslations();
  const unlink = useMutation({
    mutationFn: () => api.deleteLinkedAccount({ link: account.id }),
    onSuccess: () => {
      toast(t('settingsLinkedAccounts.isUnlinked', { login: account.login }));
      onDone();
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('settingsLinkedAccounts.unlink2', { login: account.login })}
      confirmLabel={t('settingsLinkedAccounts.unlink')}
      busy={unlink.isPending}
      onConfirm={() => unlink.mutate()}
    >
      <p>{t('settingsLinkedAccounts.requestsByThisAccountAt', { host: account.host, orgName: account.orgName })}</p>
      <ErrorNotice error={unlink.error} />
    </ConfirmDialog>
  );
}
