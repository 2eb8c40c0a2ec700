'use client';
import type { ApiKey } from '@slipway/contracts/identity';
import { Badge, type Column, Table } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { Ago, Ahead } from '../../browser/ago.tsx';
import type { Translate } from '../../messages/translate.ts';
import { KeyMenu, type KeyTask } from './key-actions.tsx';
import { KEY_STATES } from './key-words.ts';

/** Keys, whoever looks at them: who may not revoke one has none of its buttons. */
export function KeysTable({
  keys,
  mayChange,
  withOwner,
  onTask,
}: {
  keys: readonly ApiKey[];
  mayChange: boolean;
  withOwner: boolean;
  onTask: (task: KeyTask) => void;
}) {
  const t = useTranslations();
  const nameOf = (id: string): string => keys.find((key) => key.id === id)?.name ?? id;
  const columns: Column<ApiKey>[] = [
    {
      label: t('common.name'),
      phone: 'title',
      className: 'md:max-w-64',
      cell: (key) => <KeyName apiKey={key} nameOf={nameOf} />,
    },
    {
      label: t('common.state'),
      cell: (key) => <Badge tone={KEY_STATES[key.state].tone}>{t(KEY_STATES[key.state].label)}</Badge>,
    },
    ...(withOwner
      ? [
          {
            label: t('common.owner'),
            cell: (key: ApiKey) => <KeyOwner apiKey={key} />,
          },
        ]
      : []),
    {
      label: t('adminApiKeys.permissions'),
      cell: (key) => <KeyPermissions apiKey={key} />,
    },
    {
      label: t('common.expires'),
      cell: (key) =>
        key.state === 'revoked' ? (
          '—'
        ) : key.state === 'expired' ? (
          <Ago at={key.expiresAt} className="whitespace-nowrap" />
        ) : (
          <Ahead at={key.expiresAt} className="whitespace-nowrap" />
        ),
    },
    {
      label: t('adminApiKeys.lastUsed'),
      className: 'md:min-w-48',
      cell: (key) => <LastUse apiKey={key} />,
    },
    {
      label: t('common.actions'),
      unnamed: true,
      align: 'end',
      phone: 'actions',
      cell: (key) => (mayChange ? <KeyMenu apiKey={key} onTask={onTask} /> : null),
    },
  ];
  return <Table label={t('common.apiKeys')} columns={columns} rows={keys} rowKey={(key) => key.id} />;
}

function KeyName({ apiKey, nameOf }: { apiKey: ApiKey; nameOf: (id: string) => string }) {
  const t = useTranslations();
  return (
    <span className="block min-w-0">
      <span className="block font-medium break-words">{apiKey.name}</span>
      <code className="block font-mono text-xs break-all text-ink-muted">
        {apiKey.prefix}…{apiKey.last4}
      </code>
      {lineageOf(t, apiKey, nameOf).map((line) => (
        <span key={line} className="block text-xs break-words text-ink-muted">
          {line}
        </span>
      ))}
    </span>
  );
}

function KeyOwner({ apiKey: { owner, createdBy } }: { apiKey: ApiKey }) {
  const t = useTranslations();
  return (
    <span className="block min-w-0 break-words">
      {owner.kind === 'service-account' ? t('adminApiKeys.serviceAccount2', { label: owner.label }) : owner.label}
      {owner.kind === 'service-account' && !createdBy.active ? (
        <span className="block text-xs text-warn">
          {t('adminApiKeys.createdByWhoHasLeft', { label: createdBy.label })}
        </span>
      ) : null}
    </span>
  );
}

function KeyPermissions({ apiKey: { permissions, scopes } }: { apiKey: ApiKey }) {
  const t = useTranslations();
  return (
    <details>
      <summary className="cursor-pointer tabular-nums">
        {permissions.length === scopes.length
          ? scopes.length
          : t('adminApiKeys.of', { count: permissions.length, count2: scopes.length })}
      </summary>
      <span className="block font-mono text-xs break-words text-ink-muted">
        {permissions.join(', ') || t('adminApiKeys.noneAtTheMoment')}
      </span>
    </details>
  );
}

function LastUse({ apiKey: { lastUsed } }: { apiKey: ApiKey }) {
  const t = useTranslations();
  if (lastUsed === null) return <span className="text-ink-muted">{t('common.never')}</span>;
  return (
    <span className="block min-w-0">
      <Ago at={lastUsed.at} />
      <span className="block text-xs break-words text-ink-muted">
        {[lastUsed.address, lastUsed.route].filter(Boolean).join(' · ')}
      </span>
    </span>
  );
}

/** Where a key comes from and what comes of it. */
function lineageOf(
  t: Translate,
  { madeByKey, replacedBy, descendants }: ApiKey,
  nameOf: (id: string) => string,
): string[] {
  return [
    ...(madeByKey === null ? [] : [t('adminApiKeys.createdWith', { madeByKey: nameOf(madeByKey) })]),
    ...(replacedBy === null ? [] : [t('adminApiKeys.replacedBy', { replacedBy: nameOf(replacedBy) })]),
    ...(descendants === 0 ? [] : [t('adminApiKeys.liveMadeWithIt', { descendants })]),
  ];
}
