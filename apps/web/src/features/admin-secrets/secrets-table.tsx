'use client';
import type { Secret } from '@slipway/contracts/secrets';
import { Badge, type Column, Table } from '@slipway/ui';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { Ago, asAgo } from '../../browser/ago.tsx';
import { repositoryName } from '../../browser/format.ts';
import { useSession } from '../session/me.ts';
import { SecretActions } from './secret-actions.tsx';
import type { Whose } from './secret-form.tsx';

export function SecretsTable({
  label,
  secrets,
  whose,
  mayChange,
  onChanged,
}: {
  label: string;
  secrets: readonly Secret[];
  whose: Whose;
  mayChange: boolean;
  onChanged: () => void;
}) {
  const t = useTranslations();
  const columns: Column<Secret>[] = [
    {
      label: t('common.name'),
      phone: 'title',
      cell: (secret) => (
        <span className="block min-w-0">
          <code className="block font-mono text-sm break-all">{secret.name}</code>
          {secret.description ? (
            <span className="block text-xs break-words text-ink-muted">{secret.description}</span>
          ) : null}
        </span>
      ),
    },
    {
      label: t('common.kind'),
      cell: (secret) =>
        secret.kind === 'git' ? (
          <span className="break-words">{t('adminSecrets.gitAt', { host: secret.host ?? '' })}</span>
        ) : (
          <Variable host={secret.host} />
        ),
    },
    ...(whose === 'org'
      ? [{ label: t('adminSecrets.scope2'), cell: (secret: Secret) => <Scope secret={secret} /> }]
      : []),
    {
      label: t('adminSecrets.lastUsed'),
      cell: (secret) =>
        secret.lastUsedAt === null ? (
          <span className="text-ink-muted">{t('common.never')}</span>
        ) : (
          <Ago at={secret.lastUsedAt} />
        ),
    },
    {
      label: t('common.changed'),
      cell: (secret) => (
        <span>
          {t.rich('adminSecrets.by', { updatedAt: secret.updatedAt, ago: asAgo, label: secret.updatedBy.label })}
        </span>
      ),
    },
    {
      label: t('adminSecrets.masked'),
      cell: (secret) =>
        secret.masked ? (
          <Badge tone="ok">{t('adminSecrets.inOutput')}</Badge>
        ) : (
          <Badge tone="warn">{t('adminSecrets.tooShort')}</Badge>
        ),
    },
    {
      label: t('common.actions'),
      unnamed: true,
      align: 'end',
      phone: 'actions',
      cell: (secret) => (mayChange ? <SecretActions secret={secret} whose={whose} onChanged={onChanged} /> : null),
    },
  ];
  return <Table label={label} columns={columns} rows={secrets} rowKey={(secret) => secret.id} />;
}

function Variable({ host }: { host: string | null }) {
  const t = useTranslations();
  return host === null ? (
    'variable'
  ) : (
    <span className="break-words">{t('adminSecrets.variableBrowserSite', { host })}</span>
  );
}

function Scope({ secret }: { secret: Secret }) {
  const t = useTranslations();
  const { org } = useSession();
  if (secret.scopeValue === null) return t('adminSecrets.allConversations3');
  if (secret.scope === 'repository') return <span className="break-all">{repositoryName(secret.scopeValue)}</span>;
  if (secret.scope === 'conversation')
    return (
      <Link
        className="text-accent underline underline-offset-2"
        href={`/${org.slug}/conversations/${secret.scopeValue}`}
      >
        {t('adminSecrets.oneConversation2')}
      </Link>
    );
  return (
    <span>
      {t.rich('adminSecrets.environment2', {
        scopeValue: secret.scopeValue,
        code: (chunks) => <code className="font-mono">{chunks}</code>,
      })}
    </span>
  );
}
