'use client';
import type { Secret } from '@slipway/contracts';
import { Badge, type Column, Table } from '@slipway/ui';
import Link from 'next/link';
import { Ago } from '../../browser/ago.tsx';
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
  const columns: Column<Secret>[] = [
    {
      label: 'Name',
      phone: 'title',
      cell: (secret) => (
        <span className="block min-w-0">
          <code className="block font-mono text-sm break-all">{secret.name}</code>
          {secret.description ? <span className="block text-xs break-words text-ink-muted">{secret.description}</span> : null}
        </span>
      ),
    },
    { label: 'Kind', cell: (secret) => (secret.kind === 'git' ? <span className="break-words">git at {secret.host}</span> : <Variable host={secret.host} />) },
    ...(whose === 'org' ? [{ label: 'Who gets it', cell: (secret: Secret) => <Scope secret={secret} /> }] : []),
    { label: 'Last used', cell: (secret) => (secret.lastUsedAt === null ? <span className="text-ink-muted">never</span> : <Ago at={secret.lastUsedAt} />) },
    {
      label: 'Changed',
      cell: (secret) => (
        <span>
          <Ago at={secret.updatedAt} /> by {secret.updatedBy.label}
        </span>
      ),
    },
    { label: 'Hidden', cell: (secret) => (secret.masked ? <Badge tone="ok">In outputs</Badge> : <Badge tone="warn">Too short</Badge>) },
    {
      label: 'Actions',
      unnamed: true,
      align: 'end',
      phone: 'actions',
      cell: (secret) => (mayChange ? <SecretActions secret={secret} whose={whose} onChanged={onChanged} /> : null),
    },
  ];
  return <Table label={label} columns={columns} rows={secrets} rowKey={(secret) => secret.id} />;
}

function Variable({ host }: { host: string | null }) {
  return host === null ? 'variable' : <span className="break-words">variable, typed at {host}</span>;
}

function Scope({ secret }: { secret: Secret }) {
  const { org } = useSession();
  if (secret.scopeValue === null) return 'every conversation';
  if (secret.scope === 'repository') return <span className="break-all">{repositoryName(secret.scopeValue)}</span>;
  if (secret.scope === 'conversation')
    return (
      <Link className="text-accent underline underline-offset-2" href={`/${org.slug}/conversations/${secret.scopeValue}`}>
        one conversation
      </Link>
    );
  return (
    <span>
      environment <code className="font-mono">{secret.scopeValue}</code>
    </span>
  );
}
