'use client';
import type { Repository } from '@slipway/contracts/repositories';
import { Combobox, Field } from '@slipway/ui';
import { Lock } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { type ReactNode, useState } from 'react';
import { failureOf } from '../../api/failure.ts';
import { LOCALE } from '../../browser/format.ts';
import type { Translate } from '../../messages/translate.ts';
import type { Draft } from './draft.ts';
import { searchOf } from './repository-query.ts';
import { useBranches } from './use-branches.ts';
import { type FoundRepositories, useRepositories } from './use-repositories.ts';

/**
 * Which repository the agent works in: one of the organization's connections, found by its name, or any address; and on
 * which branch.
 */
export function RepositoryFields({
  draft,
  change,
  errors,
}: {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  errors: Readonly<Record<string, string>>;
}) {
  const t = useTranslations();
  const [opened, setOpened] = useState(false);
  const found = useRepositories(draft.repository, opened);
  const [branchOpened, setBranchOpened] = useState(false);
  const branches = useBranches(draft.connection, draft.repository, draft.branch, branchOpened);
  const chosen = (reference: string): Repository | undefined =>
    found.repositories.find((repository) => repository.reference === reference);
  return (
    <>
      <Field label={t('common.repository')} error={errors['repository'] ?? null} hint={linkHint(t, found)}>
        {(control) => (
          <Combobox
            {...control}
            inputMode="url"
            placeholder={t('home.ownerNameOrUrl')}
            listLabel={t('home.repositories')}
            value={draft.repository}
            // Nothing is offered for an address.
            options={
              searchOf(draft.repository) === null
                ? []
                : found.repositories.map((repository) => optionOf(t, repository, found))
            }
            note={noteOf(t, draft.repository, found)}
            busy={found.pending}
            more={found.more}
            onOpenChange={(open) => open && setOpened(true)}
            onChange={(repository) =>
              change({
                repository,
                connection: chosen(repository.trim())?.connectionId ?? '',
                ...(draft.connection ? { branch: '' } : {}),
              })
            }
            onChoose={({ key, text }) => change({ repository: text, connection: key.split(' ')[0] ?? '', branch: '' })}
          />
        )}
      </Field>
      <Field label={t('home.branch')} error={errors['branch'] ?? null}>
        {(control) => (
          <Combobox
            {...control}
            placeholder={t('home.defaultBranch')}
            listLabel={t('home.branches')}
            value={draft.branch}
            options={branches.branches.map(({ name }) => ({
              key: name,
              text: name,
              label: <span className="truncate">{name}</span>,
            }))}
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

function optionOf(
  t: Translate,
  { reference, connectionId, fullName, private: isPrivate, access }: Repository,
  { connections }: FoundRepositories,
) {
  const connection = connections.find((each) => each.connectionId === connectionId);
  return {
    key: `${connectionId} ${reference}`,
    text: reference,
    label: (
      <>
        <span className="min-w-0 flex-1 truncate">{fullName}</span>
        {isPrivate ? <Lock aria-label={t('home.private')} className="size-3.5 shrink-0 text-ink-muted" /> : null}
        <span className="shrink-0 text-xs text-ink-muted">
          {[connection?.name ?? '', access === 'read' ? t('home.readOnly') : ''].filter(Boolean).join(', ')}
        </span>
      </>
    ),
  };
}

/** What is to be said below the suggestions; `null`: nothing, or nothing is suggested for what is typed. */
function noteOf(
  t: Translate,
  typed: string,
  { repositories, connections, pending, error }: FoundRepositories,
): string | null {
  if (searchOf(typed) === null) return null;
  if (error !== null) return t('home.youCanAlsoEnterA', { title: failureOf(error).title });
  if (pending) return t('home.loadingRepositories');
  const away = connections
    .filter(({ state, text }) => state !== 'listed' && state !== 'link-needed' && text !== null)
    .map(({ name, text }) => `${name}: ${text}`);
  if (repositories.length > 0) return away.length === 0 ? null : away.join(' ');
  if (connections.some(({ state }) => state === 'listed'))
    return [t('home.noRepositoryMatchesYouCan'), ...away].join(' ');
  return away.length === 0 ? null : away.join(' ');
}

/** Where the user could see repositories, had they linked their account; nothing to say elsewhere. */
function linkHint(t: Translate, { connections }: FoundRepositories): ReactNode {
  const names = [
    ...new Set(connections.filter(({ state }) => state === 'link-needed').map(({ providerName }) => providerName)),
  ];
  if (names.length === 0) return null;
  return (
    <>
      {t.rich('home.linkYourAccountAtTo', {
        link: (chunks) => (
          <Link href="/settings/linked-accounts" className="text-accent underline underline-offset-2">
            {chunks}
          </Link>
        ),
        names: new Intl.ListFormat(LOCALE).format(names),
      })}
    </>
  );
}
