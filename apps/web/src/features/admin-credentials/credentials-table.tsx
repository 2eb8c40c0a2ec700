'use client';
import type { Credential, RestingReason } from '@slipway/contracts/credentials';
import { Badge, Button, type Column, Table } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { Ago } from '../../browser/ago.tsx';
import { exactTime } from '../../browser/format.ts';
import type { MessageKey } from '../../messages/translate.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';
import { CredentialActions } from './credential-actions.tsx';
import { FormWords, PlacesWords, ScopeWords } from './credential-words.tsx';

interface CredentialsTableProps {
  readonly credentials: readonly Credential[];
  readonly mayChange: boolean;
  readonly onChanged: () => void;
}

export function CredentialsTable({ credentials, mayChange, onChanged }: CredentialsTableProps) {
  const t = useTranslations();
  const columns: Column<Credential>[] = [
    {
      label: t('common.name'),
      phone: 'title',
      className: 'md:max-w-64',
      cell: ({ name, description }) => (
        <span className="block min-w-0">
          <code className="block font-mono text-sm break-words">{name}</code>
          {description === '' ? null : (
            <span dir="auto" className="block text-xs break-words text-ink-muted">
              {description}
            </span>
          )}
        </span>
      ),
    },
    {
      label: t('adminCredentials.form'),
      className: 'md:whitespace-nowrap',
      cell: ({ use }) => <FormWords use={use} />,
    },
    {
      label: t('adminCredentials.places'),
      className: 'md:max-w-72',
      cell: ({ use }) => <PlacesWords places={use.places} />,
    },
    { label: t('adminCredentials.scope'), cell: (credential) => <ScopeWords credential={credential} /> },
    {
      label: t('adminCredentials.lastUsed'),
      className: 'md:whitespace-nowrap',
      cell: ({ lastUsedAt }) =>
        lastUsedAt === null ? <span className="text-ink-muted">{t('common.never')}</span> : <Ago at={lastUsedAt} />,
    },
    {
      label: t('common.state'),
      className: 'md:max-w-60',
      cell: (credential) => <State credential={credential} mayChange={mayChange} onChanged={onChanged} />,
    },
    ...(mayChange
      ? [
          {
            label: t('common.actions'),
            unnamed: true,
            align: 'end',
            phone: 'actions',
            cell: (credential) => <CredentialActions credential={credential} onChanged={onChanged} />,
          } satisfies Column<Credential>,
        ]
      : []),
  ];
  return <Table label={t('common.credentials')} columns={columns} rows={credentials} rowKey={({ id }) => id} />;
}

const WHY: Record<RestingReason, MessageKey> = {
  reflected: 'adminCredentials.whyResting',
  'refresh-refused': 'adminCredentials.whyRefreshRefused',
  'refresh-lost': 'adminCredentials.whyRefreshLost',
};

/** Whether it is used; of a resting one why, and the way back. */
function State({
  credential,
  mayChange,
  onChanged,
}: {
  credential: Credential;
  mayChange: boolean;
  onChanged: () => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const useAgain = useMutation({
    mutationFn: () => api.updateCredential({ org: org.id, credential: credential.id, body: { state: 'active' } }),
    onSuccess: () => {
      toast(t('adminCredentials.usedAgain', { name: credential.name }));
      onChanged();
    },
  });
  if (credential.state === 'active')
    return (
      <div className="flex min-w-0 flex-col items-start gap-1 max-md:items-end">
        {credential.expired ? (
          <Badge tone="warn">{t('adminCredentials.expired')}</Badge>
        ) : (
          <Badge tone="ok">{t('adminCredentials.active')}</Badge>
        )}
        {credential.expiresAt === null ? null : (
          <time
            dateTime={credential.expiresAt}
            title={exactTime(credential.expiresAt)}
            className="text-xs whitespace-nowrap text-ink-muted"
          >
            {t(credential.expired ? 'adminCredentials.since' : 'adminCredentials.until', {
              day: credential.expiresAt.slice(0, 10),
            })}
          </time>
        )}
      </div>
    );
  return (
    <div className="flex min-w-0 flex-col items-start gap-1 max-md:items-end">
      <Badge tone="warn">{t('adminCredentials.resting')}</Badge>
      <span className="text-xs text-ink-muted">{t(WHY[credential.restingReason ?? 'reflected'])}</span>
      {mayChange ? (
        <Button size="small" busy={useAgain.isPending} onClick={() => useAgain.mutate()}>
          {t('adminCredentials.useAgain')}
        </Button>
      ) : null}
      <ErrorNotice error={useAgain.error} />
    </div>
  );
}
