'use client';
import type { ApiKey } from '@slipway/contracts';
import { Badge, type Column, Table } from '@slipway/ui';
import { Ago, Ahead } from '../../browser/ago.tsx';
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
  const nameOf = (id: string): string => keys.find((key) => key.id === id)?.name ?? id;
  const columns: Column<ApiKey>[] = [
    {
      label: 'Name',
      phone: 'title',
      className: 'md:max-w-64',
      cell: (key) => (
        <span className="block min-w-0">
          <span className="block font-medium break-words">{key.name}</span>
          <code className="block font-mono text-xs break-all text-ink-muted">
            {key.prefix}…{key.last4}
          </code>
          {lineageOf(key, nameOf).map((line) => (
            <span key={line} className="block text-xs break-words text-ink-muted">
              {line}
            </span>
          ))}
        </span>
      ),
    },
    { label: 'State', cell: (key) => <Badge tone={KEY_STATES[key.state].tone}>{KEY_STATES[key.state].label}</Badge> },
    ...(withOwner
      ? [
          {
            label: 'Owner',
            cell: (key: ApiKey) => (
              <span className="block min-w-0 break-words">
                {key.owner.kind === 'service-account' ? `${key.owner.label} (service account)` : key.owner.label}
                {key.owner.kind === 'service-account' && !key.createdBy.active ? (
                  <span className="block text-xs text-warn">Created by {key.createdBy.label}, who has left. Rotate it.</span>
                ) : null}
              </span>
            ),
          },
        ]
      : []),
    {
      label: 'Permissions',
      cell: (key) => (
        <details>
          <summary className="cursor-pointer tabular-nums">
            {key.permissions.length === key.scopes.length ? key.scopes.length : `${key.permissions.length} of ${key.scopes.length}`}
          </summary>
          <span className="block font-mono text-xs break-words text-ink-muted">{key.permissions.join(', ') || 'none at the moment'}</span>
        </details>
      ),
    },
    {
      label: 'Expires',
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
      label: 'Last used',
      className: 'md:min-w-48',
      cell: (key) =>
        key.lastUsed === null ? (
          <span className="text-ink-muted">never</span>
        ) : (
          <span className="block min-w-0">
            <Ago at={key.lastUsed.at} />
            <span className="block text-xs break-words text-ink-muted">{[key.lastUsed.address, key.lastUsed.route].filter(Boolean).join(' · ')}</span>
          </span>
        ),
    },
    { label: 'Actions', unnamed: true, align: 'end', phone: 'actions', cell: (key) => (mayChange ? <KeyMenu apiKey={key} onTask={onTask} /> : null) },
  ];
  return <Table label="API keys" columns={columns} rows={keys} rowKey={(key) => key.id} />;
}

/** Where a key comes from and what comes of it. */
function lineageOf({ madeByKey, replacedBy, descendants }: ApiKey, nameOf: (id: string) => string): string[] {
  return [
    ...(madeByKey === null ? [] : [`Made with ${nameOf(madeByKey)}`]),
    ...(replacedBy === null ? [] : [`Replaced by ${nameOf(replacedBy)}`]),
    ...(descendants === 0 ? [] : [`${descendants} live ${descendants === 1 ? 'key' : 'keys'} made with it`]),
  ];
}
