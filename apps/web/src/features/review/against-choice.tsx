'use client';
import { Select } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { useChangesAddress } from '../changes/selection.ts';
import { useCommits } from '../changes/use-changes.ts';

/** What the files are compared with: where the work began, what the user looked at, the last message, or a commit. */
export function AgainstChoice() {
  const t = useTranslations();
  const { selection, choose } = useChangesAddress();
  const commits = useCommits(selection.repository).data?.pages.flatMap(({ data }) => data) ?? [];
  const options = [
    { value: 'base', label: t('changes.sinceTheWorkBegan') },
    { value: 'looked', label: t('reviewPage.sinceILooked') },
    { value: 'turn', label: t('changes.sinceTheLastMessage') },
    ...commits.map(({ hash, subject }) => ({ value: hash, label: `${hash.slice(0, 7)} ${subject}` })),
  ];
  const known = options.some(({ value }) => value === selection.against);
  return (
    <Select
      aria-label={t('changes.compareWith')}
      className="w-48"
      value={selection.against}
      options={known ? options : [...options, { value: selection.against, label: selection.against.slice(0, 7) }]}
      onChange={choose}
    />
  );
}
