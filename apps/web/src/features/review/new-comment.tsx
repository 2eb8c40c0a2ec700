'use client';
import { MAX_EXCERPT_LENGTH, MAX_REVIEW_LINES, type ReviewAnchor } from '@slipway/contracts/conversations';
import { useTranslations } from 'next-intl';
import { useConversation } from '../conversation/conversation-context.ts';
import { Failed } from '../frame/failed.tsx';
import { CommentBox } from './comment-box.tsx';
import type { LineRange, PatchSides } from './patch-sides.ts';
import { anchorTo } from './placed-threads.ts';
import type { ReviewVerbs } from './use-review.ts';

interface NewCommentProps {
  readonly range: LineRange;
  readonly sides: PatchSides;
  readonly file: Pick<ReviewAnchor, 'path' | 'base' | 'repository'>;
  readonly begin: ReviewVerbs['begin'];
  readonly suggests: boolean;
  readonly onSuggest: (suggests: boolean) => void;
  /** It was saved, or given up; what was typed then stays. */
  readonly onClose: (saved: boolean) => void;
}

/** Begins a thread on the lines that are chosen. */
export function NewComment({ range, sides, file, begin, suggests, onSuggest, onClose }: NewCommentProps) {
  const t = useTranslations();
  const { conversation } = useConversation();
  const anchor = anchorTo(
    { ...range, endLine: Math.min(range.endLine, range.line + MAX_REVIEW_LINES - 1) },
    sides,
    file,
  );
  const { line, endLine } = anchor ?? range;
  return (
    <div className="border-b border-line p-3">
      <CommentBox
        key={`${range.side} ${line} ${endLine}`}
        linesDraft={`${conversation.id}.${file.path}.${anchor?.hash}`}
        draft={`${conversation.id}.${file.path}`}
        label={t('reviewPage.commentOn', { from: line, to: endLine })}
        busy={begin.isPending}
        lines={linesOf(anchor)}
        suggests={suggests}
        onSuggest={onSuggest}
        onCancel={() => onClose(false)}
        onSave={(written, done) => {
          if (anchor === null) return;
          begin.mutate(
            { anchor, ...written },
            {
              onSuccess: () => {
                done();
                onClose(true);
              },
            },
          );
        }}
      />
      {begin.error ? <Failed error={begin.error} /> : null}
    </div>
  );
}

/** What a suggestion can take the place of: lines that are there now, and whole. */
function linesOf(anchor: ReviewAnchor | null): string | null {
  return anchor?.side === 'new' && anchor.excerpt.length < MAX_EXCERPT_LENGTH ? anchor.excerpt : null;
}
