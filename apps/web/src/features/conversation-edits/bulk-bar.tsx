'use client';
import type { ConversationSummary, ListConversationsQuery } from '@slipway/contracts/conversations';
import { Button, ConfirmDialog } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { isActive } from '../conversations/status-label.ts';
import { useMayEdit } from './may-edit.ts';
import { TagsDialog } from './tags-dialog.tsx';
import type { BulkAction, Edits } from './use-edits.ts';

/** What is done with those that are selected. */
export function BulkBar({
  selected,
  shown,
  edits,
  all,
  clear,
}: {
  selected: readonly ConversationSummary[];
  shown: ListConversationsQuery['shown'];
  edits: Edits;
  /** Selects every line that has been read; `null`: they are. */
  all: (() => void) | null;
  clear: () => void;
}) {
  const t = useTranslations();
  const { mayDelete } = useMayEdit();
  const [tags, setTags] = useState(false);
  const [stopping, setStopping] = useState(false);
  const [busy, setBusy] = useState<BulkAction | null>(null);
  const ids = selected.map(({ id }) => id);
  const working = selected.filter(({ status }) => isActive(status));
  const run = async (action: BulkAction, of = ids) => {
    setBusy(action);
    if (await edits.run(action, of)) clear();
    setBusy(null);
  };
  const button = (action: BulkAction, words: string) => (
    <Button size="small" busy={busy === action} disabled={busy !== null} onClick={() => void run(action)}>
      {words}
    </Button>
  );
  const removes = selected.every(mayDelete);
  return (
    <section
      aria-label={t('conversationEdits.selection')}
      className="flex flex-wrap items-center gap-2 border-b border-line bg-accent-soft px-4 py-2 md:px-6"
    >
      <p role="status" className="mr-2 text-sm font-medium">
        {t('conversationEdits.selected', { count: selected.length })}
      </p>
      {shown === 'deleted' ? (
        removes && button('restore', t('conversationEdits.restore'))
      ) : (
        <>
          <Button size="small" disabled={busy !== null} onClick={() => setTags(true)}>
            {t('conversationEdits.addTags')}
          </Button>
          {working.length > 0 ? (
            <Button size="small" disabled={busy !== null} onClick={() => setStopping(true)}>
              {t('conversationEdits.stop')}
            </Button>
          ) : null}
          {shown === 'archived'
            ? button('unarchive', t('conversationEdits.unarchive'))
            : button('archive', t('conversationEdits.archive'))}
          {removes ? button('delete', t('common.delete2')) : null}
        </>
      )}
      <span className="ml-auto flex gap-2">
        {all === null ? null : (
          <Button size="small" onClick={all}>
            {t('conversationEdits.selectAll')}
          </Button>
        )}
        <Button size="small" onClick={clear}>
          {t('conversationEdits.clearSelection')}
        </Button>
      </span>
      <ConfirmDialog
        open={stopping}
        onOpenChange={setStopping}
        title={t('conversationEdits.stopTitle', { count: working.length })}
        confirmLabel={t('conversationEdits.stopNow')}
        busy={busy === 'stop'}
        onConfirm={() =>
          void run(
            'stop',
            working.map(({ id }) => id),
          ).then(() => setStopping(false))
        }
      >
        <p>{t('conversationEdits.whatStoppingDoes')}</p>
      </ConfirmDialog>
      {tags ? (
        <TagsDialog
          title={t('conversationEdits.addTagsTo', { count: selected.length })}
          tags={[]}
          save={(add) => (add.length === 0 ? Promise.resolve(true) : edits.tag(ids, add))}
          onClose={() => setTags(false)}
        />
      ) : null}
    </section>
  );
}
