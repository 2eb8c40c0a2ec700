'use client';
import type { Repository } from '@slipway/contracts';
import { Combobox, Field } from '@slipway/ui';
import { Lock } from 'lucide-react';
import Link from 'next/link';
import { type ReactNode, useState } from 'react';
import { failureOf } from '../../api/failure.ts';
import type { Draft } from './draft.ts';
import { searchOf } from './repository-query.ts';
import { useBranches } from './use-branches.ts';
import { type FoundRepositories, useRepositories } from './use-repositories.ts';

/** Which repository the agent works in: one of the organization's connections, found by its name, or any address; and on which branch. */
export function RepositoryFields({
  draft,
  change,
  errors,
}: {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  errors: Readonly<Record<string, string>>;
}) {
  const [opened, setOpened] = useState(false);
  const found = useRepositories(draft.repository, opened);
  const [branchOpened, setBranchOpened] = useState(false);
  const branches = useBranches(draft.connection, draft.repository, draft.branch, branchOpened);
  const chosen = (reference: string): Repository | undefined => found.repositories.find((repository) => repository.reference === reference);
  return (
    <>
      <Field label="Repository" error={errors['repository'] ?? null} hint={linkHint(found)}>
        {(control) => (
          <Combobox
            {...control}
            inputMode="url"
            placeholder="owner/name, or an address"
            listLabel="Repositories"
            value={draft.repository}
            // Nothing is offered for an address.
            options={searchOf(draft.repository) === null ? [] : found.repositories.map((repository) => optionOf(repository, found))}
            note={noteOf(draft.repository, found)}
            busy={found.pending}
            more={found.more}
            onOpenChange={(open) => open && setOpened(true)}
            onChange={(repository) =>
              change({ repository, connection: chosen(repository.trim())?.connectionId ?? '', ...(draft.connection ? { branch: '' } : {}) })
            }
            onChoose={({ key, text }) => change({ repository: text, connection: key.split(' ')[0] ?? '', branch: '' })}
          />
        )}
      </Field>
      <Field label="Branch" error={errors['branch'] ?? null}>
        {(control) => (
          <Combobox
            {...control}
            placeholder="default branch"
            listLabel="Branches"
            value={draft.branch}
            options={branches.branches.map(({ name }) => ({ key: name, text: name, label: <span className="truncate">{name}</span> }))}
            note={branches.error === null || draft.connection === '' ? null : `${failureOf(branches.error).title}.`}
            busy={branches.pending}
            more={branches.more}
            onOpenChange={(open) => open && setBranchOpened(true)}
            onChange={(branch) => change({ branch })}
            onChoose={({ text }) => change({ branch: text })}
          />
        )}
      </Field>
    </>
  );
}

function optionOf({ reference, connectionId, fullName, private: isPrivate, access }: Repository, { connections }: FoundRepositories) {
  const connection = connections.find((each) => each.connectionId === connectionId);
  return {
    key: `${connectionId} ${reference}`,
    text: reference,
    label: (
      <>
        <span className="min-w-0 flex-1 truncate">{fullName}</span>
        {isPrivate ? <Lock aria-label="private" className="size-3.5 shrink-0 text-ink-muted" /> : null}
        <span className="shrink-0 text-xs text-ink-muted">{[connection?.name ?? '', access === 'read' ? 'read only' : ''].filter(Boolean).join(', ')}</span>
      </>
    ),
  };
}

/** What is to be said below the suggestions; `null`: nothing, or nothing is suggested for what is typed. */
function noteOf(typed: string, { repositories, connections, pending, error }: FoundRepositories): string | null {
  if (searchOf(typed) === null) return null;
  if (error !== null) return `${failureOf(error).title}. A whole address works too.`;
  if (pending) return 'Looking at the providers…';
  const away = connections
    .filter(({ state, text }) => state !== 'listed' && state !== 'link-needed' && text !== null)
    .map(({ name, text }) => `${name}: ${text}`);
  if (repositories.length > 0) return away.length === 0 ? null : away.join(' ');
  if (connections.some(({ state }) => state === 'listed')) return ['No repository has this in its name. A whole address works too.', ...away].join(' ');
  return away.length === 0 ? null : away.join(' ');
}

/** Where the user could see repositories, had they linked their account; nothing to say elsewhere. */
function linkHint({ connections }: FoundRepositories): ReactNode {
  const names = [...new Set(connections.filter(({ state }) => state === 'link-needed').map(({ providerName }) => providerName))];
  if (names.length === 0) return null;
  return (
    <>
      <Link href="/settings/linked-accounts" className="text-accent underline underline-offset-2">
        Link your account
      </Link>{' '}
      at {names.join(' and ')} to choose from its repositories.
    </>
  );
}
