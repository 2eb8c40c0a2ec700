'use client';
import type { LinkableConnection, LinkedAccount } from '@slipway/contracts';
import { Badge, Button, type Column, ConfirmDialog, EmptyState, Notice, Section, Table } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { failureOfCode } from '../../api/failure.ts';
import { useAddressValue } from '../../browser/address.ts';
import { Ago } from '../../browser/ago.tsx';
import { ErrorNotice } from '../form/form-failure.tsx';
import { Page } from '../frame/page.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { ConfirmLinkDialog } from './confirm-link-dialog.tsx';
import { keyOf, stillToLink } from './linkable.ts';

const KEY = ['linked-accounts'];

/** Accounts at providers that this user has shown to be theirs. */
export function LinkedAccounts() {
  const queries = useQueryClient();
  const [confirming, setConfirming] = useAddressValue('confirm');
  const [problem, setProblem] = useAddressValue('problem');
  const [unlinking, setUnlinking] = useState<LinkedAccount | null>(null);
  const accounts = useQuery({ queryKey: KEY, queryFn: ({ signal }) => api.listLinkedAccounts({ signal }) });
  const pending = accounts.data?.data.find(({ id, state }) => id === confirming && state === 'pending');
  const changed = () => void queries.invalidateQueries({ queryKey: KEY });
  return (
    <Page
      title="Linked accounts"
      description="Who you are at GitHub, GitLab or Gitea. What you ask for there in an issue or a comment is then done in your name here, and you can choose from the repositories that you may read."
    >
      {problem === null ? null : <Problem code={problem} onDismiss={() => setProblem(null)} />}
      {confirming === null || accounts.data === undefined || pending !== undefined ? null : (
        <Notice tone="warn" title="This link is over, or was begun in another browser." action={<Button onClick={() => setConfirming(null)}>Dismiss</Button>}>
          Nothing was linked. Begin again below.
        </Notice>
      )}
      <QueryPanel query={accounts} label="Your linked accounts">
        {({ data, linkable }) => (
          <div className="flex flex-col gap-8">
            {data.length === 0 ? (
              <EmptyState title="No account is linked" className="rounded-lg border border-line">
                {linkable.length === 0
                  ? 'None of your organizations has a connection by which accounts can be linked. An admin enters an OAuth client at the connection, under Admin, Integrations.'
                  : 'Link yours below. Until then what you ask for there is refused.'}
              </EmptyState>
            ) : (
              <Table label="Linked accounts" columns={columns(setUnlinking, (id) => setConfirming(id))} rows={data} rowKey={({ id }) => id} />
            )}
            <Linkable connections={stillToLink(linkable, data)} />
          </div>
        )}
      </QueryPanel>
      {pending === undefined ? null : <ConfirmLinkDialog link={pending} onClose={() => setConfirming(null)} onChanged={changed} />}
      {unlinking === null ? null : <UnlinkDialog account={unlinking} onClose={() => setUnlinking(null)} onDone={changed} />}
    </Page>
  );
}

function Problem({ code, onDismiss }: { code: string; onDismiss: () => void }) {
  const failure = failureOfCode(code);
  return (
    <Notice tone="bad" title={failure.title} action={<Button onClick={onDismiss}>Dismiss</Button>}>
      Nothing was linked. {failure.nextStep}
    </Notice>
  );
}

function columns(unlink: (account: LinkedAccount) => void, confirm: (id: string) => void): Column<LinkedAccount>[] {
  return [
    {
      label: 'Account',
      phone: 'title',
      cell: (account) => (
        <span className="block min-w-0">
          <span className="block font-medium break-words">{account.login}</span>
          <span className="block text-xs break-words text-ink-muted">
            {account.providerName} at {account.host}, id {account.externalUserId}
          </span>
        </span>
      ),
    },
    { label: 'In', cell: (account) => <span className="break-words">{account.orgName}</span> },
    {
      label: 'Linked',
      className: 'md:whitespace-nowrap',
      cell: (account) => (account.linkedAt === null ? <Badge tone="warn">Waits for you</Badge> : <Ago at={account.linkedAt} />),
    },
    {
      label: 'Actions',
      unnamed: true,
      align: 'end',
      phone: 'actions',
      cell: (account) =>
        account.state === 'pending' ? (
          <Button size="small" aria-label={`Confirm ${account.login}`} onClick={() => confirm(account.id)}>
            Confirm…
          </Button>
        ) : (
          <Button size="small" tone="danger" aria-label={`Unlink ${account.login} at ${account.host} in ${account.orgName}`} onClick={() => unlink(account)}>
            Unlink
          </Button>
        ),
    },
  ];
}

/** Where another account can be linked: each leads to the provider and back. */
function Linkable({ connections }: { connections: readonly LinkableConnection[] }) {
  const begin = useMutation({
    mutationFn: ({ orgId, connectionId }: LinkableConnection) => api.beginLink({ body: { org: orgId, connectionId } }),
    onSuccess: ({ authorizeUrl }) => {
      if (/^https?:\/\//.test(authorizeUrl)) window.location.assign(authorizeUrl);
    },
  });
  if (connections.length === 0) return null;
  return (
    <Section title="Link an account" description="You sign in there, come back here, and confirm. Slipway asks who you are, and keeps no token of yours.">
      <ErrorNotice error={begin.error} />
      <ul className="flex flex-col divide-y divide-line rounded-lg border border-line bg-surface">
        {connections.map((connection) => (
          <li key={keyOf(connection)} className="flex items-center justify-between gap-4 px-4 py-2.5">
            <span className="min-w-0">
              <span className="block text-sm font-medium break-words">
                {connection.providerName} at {connection.host}
              </span>
              <span className="block text-xs break-words text-ink-muted">{connection.orgName}</span>
            </span>
            <Button
              aria-label={`Link an account at ${connection.host} in ${connection.orgName}`}
              busy={(begin.isPending || begin.isSuccess) && begin.variables.connectionId === connection.connectionId}
              onClick={() => begin.mutate(connection)}
            >
              Link
            </Button>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function UnlinkDialog({ account, onClose, onDone }: { account: LinkedAccount; onClose: () => void; onDone: () => void }) {
  const unlink = useMutation({
    mutationFn: () => api.deleteLinkedAccount({ link: account.id }),
    onSuccess: () => {
      toast(`${account.login} is unlinked.`);
      onDone();
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title={`Unlink ${account.login}?`}
      confirmLabel="Unlink"
      busy={unlink.isPending}
      onConfirm={() => unlink.mutate()}
    >
      <p>
        What this account asks for at {account.host} is refused in {account.orgName} from then on. Conversations that are under way go on.
      </p>
      <ErrorNotice error={unlink.error} />
    </ConfirmDialog>
  );
}
