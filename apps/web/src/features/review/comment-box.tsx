'use client';
import { Button, Field, Textarea } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import type { KeyboardEvent } from 'react';
import { useStored } from '../../browser/stored.ts';
import { editableLines, fileLines } from './suggestion.ts';

/** What a comment says, and what it wants the lines to be; `null`: nothing else. */
export interface Written {
  readonly text: string;
  readonly suggestion: string | null;
}

interface CommentBoxProps {
  /** Under which the words are kept in this browser until they are saved. */
  readonly draft: string;
  readonly label: string;
  readonly busy: boolean;
  /** The lines that the comment is about; `null`: others cannot be suggested in their place. */
  readonly lines: string | null;
  /** Under which a suggestion is kept: what is for these lines is for no others. */
  readonly linesDraft: string;
  readonly suggests: boolean;
  readonly onSuggest: (suggests: boolean) => void;
  readonly onSave: (written: Written, done: () => void) => void;
  readonly onCancel: () => void;
}

/**
 * A field for a comment, and one for the lines as they should be. What is typed stays through a reload, a lost line and
 * a failed request.
 */
export function CommentBox(props: CommentBoxProps) {
  const { draft, linesDraft, label, busy, lines, suggests, onSuggest, onSave, onCancel } = props;
  const t = useTranslations();
  const [text, setText] = useStored(`slipway.draft.review.${draft}`, '');
  // With a sign before it, since a suggestion may be empty: then the lines are to go.
  const [kept, setKept] = useStored(`slipway.draft.review.${linesDraft}.lines`, '');
  const editable = editableLines(lines ?? '');
  const suggested = kept === '' ? editable.text : kept.slice(1);
  const suggestion = suggests && lines !== null && suggested !== editable.text ? fileLines(suggested, editable) : null;
  const isEmpty = text.trim() === '' && suggestion === null;
  const save = () => {
    if (isEmpty || busy) return;
    onSave({ text: text.trim(), suggestion }, () => {
      setText('');
      setKept('');
    });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onCancel();
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    event.stopPropagation();
    save();
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
            autoFocus={!suggests}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={onKeyDown}
          />
        )}
      </Field>
      {suggests && lines !== null ? (
        <Field label={t('reviewPage.suggestedLines')} hint={t('reviewPage.suggestedLinesHint')}>
          {(control) => (
            <Textarea
              {...control}
              dir="ltr"
              rows={Math.min(12, editable.text.split('\n').length + 1)}
              maxLength={16_384}
              className="font-mono text-xs"
              spellCheck={false}
              value={suggested}
              autoFocus
              onChange={(event) => setKept(`=${event.target.value}`)}
              onKeyDown={onKeyDown}
            />
          )}
        </Field>
      ) : null}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" size="small" tone="primary" busy={busy} disabled={isEmpty}>
          {t('reviewPage.addComment')}
        </Button>
        {lines === null ? null : (
          <Button type="button" size="small" onClick={() => onSuggest(!suggests)}>
            {suggests ? t('reviewPage.withoutSuggestion') : t('reviewPage.suggestChange')}
          </Button>
        )}
        <Button type="button" size="small" onClick={onCancel}>
          {t('common.cancel')}
        </Button>
      </div>
    </form>
  );
}
