'use client';
import { Button } from '@slipway/ui';
import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { useTranslations } from 'next-intl';
import { totalsOf } from '../changes/listing.ts';
import { useChanges } from '../changes/use-changes.ts';
import { useCommand } from '../commands/command-context.tsx';
import { useConversation, useView } from '../conversation/conversation-context.ts';
import { useSession } from '../session/me.ts';

/** Leads from a conversation to its review, with how many files differ. */
export function ReviewLink() {
  const t = useTranslations();
  const router = useRouter();
  const { org } = useSession();
  const { conversation } = useConversation();
  const hadWorkspace = useView((view) => view.hadWorkspace);
  const { data } = useChanges();
  const count = data === undefined ? 0 : totalsOf(data).files;
  const address = `/${org.slug}/conversations/${conversation.id}/review`;
  useCommand('review.open', hadWorkspace ? () => router.push(address) : null);
  if (!hadWorkspace) return null;
  return (
    <Button asChild>
      <Link href={address}>
        {t('common.review')} {count > 0 ? <span className="tabular-nums">{count}</span> : null}
      </Link>
    </Button>
  );
}
