'use client';
import {
  MAX_EXCERPT_LENGTH,
  type ReviewAnswer,
  type ReviewComment,
  type ReviewThread,
} from '@slipway/contracts/conversations';
import { visibleMarks } from '@slipway/domain/review';
import { Badge, Button, ScrollBox } from '@slipway/ui';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useEffect, useRef, useState } from 'react';
import { Ago } from '../../browser/ago.tsx';
import { useConversation } from '../conversation/conversation-context.ts';
import { Failed } from '../frame/failed.tsx';
import { useSession } from '../session/me.ts';
import { CommentBox } from './comment-box.tsx';
import { SuggestedChange } from './suggested-change.tsx';
import type { ReviewVerbs } from './use-review.ts';

/** One thread: comments, what the agent answered, and whether it is resolved. An outdated one has its lines with it. */
export function ThreadCard({
  thread,
  outdated,
  inSight,
  verbs,
}: {
  thread: ReviewThread;
  outdated: boolean;
  /** It was chosen by key: it comes into sight and has the focus. */
  inSight: boolean;
  verbs: ReviewVerbs;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const [replies, setReplies] = useState<'comment' | 'suggestion' | null>(null);
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!inSight) return;
    card.current?.scrollIntoView({ block: 'center' });
    card.current?.focus({ preventScroll: true });
  }, [inSight]);
  const mayWrite = org.permissions.includes('conversation:write');
  const { number, anchor, resolvedAt, resolvedBy } = thread;
  const failure = verbs.reply.error ?? verbs.remove.error ?? verbs.resolve.error;
  return (
    <section
      ref={card}
      data-review-thread={thread.id}
      tabIndex={-1}
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
          <Comment key={comment.id} comment={comment} thread={thread} remove={verbs.remove} />
        ))}
        {thread.answers.map((answer) => (
          <Answer key={`${answer.seq} ${answer.text}`} answer={answer} />
        ))}
      </ul>
      {failure ? <Failed error={failure} /> : null}
      {replies !== null ? (
        <CommentBox
          draft={thread.id}
          linesDraft={thread.id}
          label={t('reviewPage.reply')}
          busy={verbs.reply.isPending}
          lines={anchor.side === 'new' && anchor.excerpt.length < MAX_EXCERPT_LENGTH ? anchor.excerpt : null}
          suggests={replies === 'suggestion'}
          onSuggest={(suggests) => setReplies(suggests ? 'suggestion' : 'comment')}
          onCancel={() => setReplies(null)}
          onSave={(written, done) =>
            verbs.reply.mutate(
              { thread: thread.id, ...written },
              {
                onSuccess: () => {
                  done();
                  setReplies(null);
                },
              },
            )
          }
        />
      ) : mayWrite ? (
        <div className="flex gap-2">
          <Button size="small" onClick={() => setReplies('comment')}>
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

/** What a user wrote, and the change that they suggest. One that was not sent yet can be deleted by its author. */
function Comment({
  comment,
  thread,
  remove,
}: {
  comment: ReviewComment;
  thread: ReviewThread;
  remove: ReviewVerbs['remove'];
}) {
  const t = useTranslations();
  const { me } = useSession();
  const { author, text, suggestion, createdAt, messageId } = comment;
  return (
    <li className="flex flex-col gap-1">
      <p className="flex items-center gap-2 text-xs text-ink-muted">
        <span className="font-medium text-ink">{author.label}</span>
        {messageId === null ? t('reviewPage.notSent') : <Ago at={createdAt} />}
        {messageId === null && author.id === me.id ? (
          <Button size="small" tone="quiet" onClick={() => remove.mutate({ thread: thread.id, comment: comment.id })}>
            {t('reviewPage.deleteComment')}
          </Button>
        ) : null}
      </p>
      {text === '' ? null : (
        <p dir="auto" className="break-words whitespace-pre-wrap">
          {text}
        </p>
      )}
      {suggestion === null ? null : <SuggestedChange excerpt={thread.anchor.excerpt} suggestion={suggestion} />}
    </li>
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
