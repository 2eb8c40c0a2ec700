'use client';
import { Button, Field, Textarea } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { useStored } from '../../browser/stored.ts';

interface CommentBoxProps {
  /** Under which the words are kept in this browser until they are saved. */
  readonly draft: string;
  readonly label: string;
  readonly busy: boolean;
  readonly onSave: (text: string, done: () => void) => void;
  readonly onCancel?: () => void;
}

/** A field for a comment. What is typed stays through a reload, a lost line and a failed request. */
export function CommentBox({ draft, label, busy, onSave, onCancel }: CommentBoxProps) {
  const t = useTranslations();
  const [text, setText] = useStored(`slipway.draft.review.${draft}`, '');
  const save = () => {
    if (text.trim() !== '' && !busy) onSave(text, () => setText(''));
  };
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <Field label={label}>
        {(control) => (
          <Textarea
            {...control}
            rows={3}
            maxLength={16_384}
            value={text}
            autoFocus={onCancel !== undefined}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Escape') onCancel?.();
              if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
              event.preventDefault();
              event.stopPropagation();
              save();
            }}
          />
        )}
      </Field>
      <div className="flex gap-2">
        <Button type="submit" size="small" tone="primary" busy={busy} disabled={text.trim() === ''}>
          {t('reviewPage.addComment')}
        </Button>
        {onCancel === undefined ? null : (
          <Button type="button" size="small" onClick={onCancel}>
            {t('common.cancel')}
          </Button>
        )}
      </div>
    </form>
  );
}
