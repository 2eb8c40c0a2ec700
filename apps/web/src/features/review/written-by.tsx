'use client';
import type { FileChange } from '@slipway/contracts/repositories';
import { writersOf } from '@slipway/domain/review';
import { useQuery } from '@tanstack/react-query';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import type { Selection } from '../changes/selection.ts';
import { useConversation } from '../conversation/conversation-context.ts';
import { useSession } from '../session/me.ts';
import type { LineRange, PatchSides } from './patch-sides.ts';

interface WrittenByProps {
  readonly file: FileChange;
  readonly selection: Selection;
  readonly sides: PatchSides;
  readonly at: LineRange;
}

/** The steps of the agent that wrote these lines, each a way to it in the conversation; or that it is not known. */
export function WrittenBy({ file, selection: { repository }, sides, at }: WrittenByProps) {
  const t = useTranslations();
  const { org } = useSession();
  const { orgId, conversation } = useConversation();
  const { data } = useQuery({
    queryKey: ['provenance', orgId, conversation.id, repository, file.path, file.hash],
    queryFn: ({ signal }) =>
      api.getProvenance({
        org: orgId,
        conversation: conversation.id,
        query: { path: file.path, ...(repository === null ? {} : { repository }) },
        signal,
      }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  // Of lines that are gone, nothing is left to recognize.
  if (data === undefined || at.side === 'old') return null;
  const writers = writersOf(data.lines, sides.new, at);
  if (writers.length === 0) return <span className="text-ink-muted">{t('reviewPage.writerUnknown')}</span>;
  return (
    <span className="flex flex-wrap gap-x-2 text-ink-muted">
      {t('reviewPage.writtenBy')}
      {writers.slice(0, 5).map((seq) => (
        <Link
          key={seq}
          className="text-accent underline underline-offset-2 touch:min-h-11"
          href={`/${org.slug}/conversations/${conversation.id}?event=${seq}`}
        >
          {t('reviewPage.step', { seq })}
        </Link>
      ))}
    </span>
  );
}
