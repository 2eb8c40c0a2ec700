'use client';
import type { ReviewAnswer, ReviewThread } from '@slipway/contracts/conversations';
import { visibleMarks } from '@slipway/domain/review';
import { Badge, Button, ScrollBox } from '@slipway/ui';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { Ago } from '../../browser/ago.tsx';
import { useConversation } from '../conversation/conversation-context.ts';
import { Failed } from '../frame/failed.tsx';
import { useSession } from '../session/me.ts';
import { CommentBox } from './comment-box.tsx';
import type { ReviewVerbs } from './use-review.ts';

/** One thread: comments, what the agent answered, and whether it is resolved. An outdated one has its lines with it. */
export function ThreadCard({
  thread,
  outdated,
  verbs,
}: {
  thread: ReviewThread;
  outdated: boolean;
  verbs: ReviewVerbs;
}) {
  const t = useTranslations();
  const { org, me } = useSession();
  const [replies, setReplies] = useState(false);
  const mayWrite = org.permissions.includes('conversation:write');
  const { number, anchor, resolvedAt, resolvedBy } = thread;
  const failure = verbs.reply.error ?? verbs.remove.error ?? verbs.resolve.error;
  return (
    <section
      aria-label={t('reviewPage.threadOn', { number, line: anchor.line })}
      className="m-2 flex flex-col gap-2 rounded-md border border-line-strong bg-surface p-3 font-sans text-sm whitespace-normal text-ink"
    >
      <header className="flex flex-wrap items-center gap-2 text-xs text-ink-muted">
        <span>{t('reviewPage.thread', { number })}</span>
        {outdated ? <Badge>{t('reviewPage.outdated')}</Badge> : null}
        {resolvedAt === null ? null : <Badge>{t('reviewPage.resolvedBy', { name: resolvedBy ?? '' })}</Badge>}
      </header>
      {outdated ? (
        <ScrollBox
          label={t('reviewPage.linesAsTheyWere')}
          className="max-h-40 overflow-auto rounded bg-raised p-2 font-mono text-xs whitespace-pre"
        >
          {anchor.excerpt.split('\n').map(visibleMarks).join('\n')}
        </ScrollBox>
      ) : null}
      <ul className="flex flex-col gap-2">
        {thread.comments.map((comment) => (
          <li key={comment.id}>
            <p className="flex items-center gap-2 text-xs text-ink-muted">
              <span className="font-medium text-ink">{comment.author.label}</span>
              {comment.messageId === null ? t('reviewPage.notSent') : <Ago at={comment.createdAt} />}
              {comment.messageId === null && comment.author.id === me.id ? (
                <Button
                  size="small"
                  tone="quiet"
                  onClick={() => verbs.remove.mutate({ thread: thread.id, comment: comment.id })}
                >
                  {t('reviewPage.deleteComment')}
                </Button>
              ) : null}
            </p>
            <p dir="auto" className="break-words whitespace-pre-wrap">
              {comment.text}
            </p>
          </li>
        ))}
        {thread.answers.map((answer) => (
          <Answer key={`${answer.seq} ${answer.text}`} answer={answer} />
        ))}
      </ul>
      {failure ? <Failed error={failure} /> : null}
      {replies ? (
        <CommentBox
          draft={thread.id}
          label={t('reviewPage.reply')}
          busy={verbs.reply.isPending}
          onCancel={() => setReplies(false)}
          onSave={(text, done) =>
            verbs.reply.mutate(
              { thread: thread.id, text },
              {
                onSuccess: () => {
                  done();
                  setReplies(false);
                },
              },
            )
          }
        />
      ) : mayWrite ? (
        <div className="flex gap-2">
          <Button size="small" onClick={() => setReplies(true)}>
            {t('reviewPage.reply')}
          </Button>
          <Button
            size="small"
            tone="quiet"
            onClick={() => verbs.resolve.mutate({ thread: thread.id, resolved: resolvedAt === null })}
          >
            {resolvedAt === null ? t('reviewPage.resolve') : t('reviewPage.openAgain')}
          </Button>
        </div>
      ) : null}
    </section>
  );
}

/** What the agent said, with the event that says it. */
function Answer({ answer }: { answer: ReviewAnswer }) {
  const t = useTranslations();
  const { org } = useSession();
  const { conversation } = useConversation();
  return (
    <li className="border-l-2 border-accent pl-2">
      <p className="flex items-center gap-2 text-xs text-ink-muted">
        <span className="font-medium text-ink">{t('reviewPage.agent')}</span>
        <Link className="underline" href={`/${org.slug}/conversations/${conversation.id}?event=${answer.seq}`}>
          {t('reviewPage.showInConversation')}
        </Link>
        {answer.commit === null ? null : <code className="font-mono">{answer.commit.slice(0, 10)}</code>}
      </p>
      <p dir="auto" className="break-words whitespace-pre-wrap">
        {answer.text}
      </p>
    </li>
  );
}
