'use client';
import { type ConversationSummary, MAX_TITLE_LENGTH } from '@slipway/contracts/conversations';
import { Button, Input, Menu, MenuItem, MenuSeparator } from '@slipway/ui';
import { Archive, ArchiveRestore, Ellipsis, PencilLine, Pin, PinOff, Tags, Trash2 } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { ConversationLine } from '../conversations/conversation-row.tsx';
import { useSession } from '../session/me.ts';
import { useMayEdit } from './may-edit.ts';
import { TagsDialog } from './tags-dialog.tsx';
import { timeLeft } from './time-left.ts';
import type { Edits } from './use-edits.ts';

/** A line of the list with its box, its menu and, while it is renamed, a field. One in the trash can be restored. */
export function EditableLine({
  conversation,
  edits,
  chosen,
  select,
}: {
  conversation: ConversationSummary;
  edits: Edits;
  chosen: boolean;
  select: (id: string, on: boolean) => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const [open, setOpen] = useState<'rename' | 'tags' | null>(null);
  const { id, title, deletedAt } = conversation;
  const close = () => setOpen(null);
  return (
    <div className="flex items-center border-b border-line [&>a]:min-w-0 [&>a]:flex-1 [&>a]:border-b-0 [&>a]:px-1 md:[&>a]:px-6">
      <label className="grid size-11 shrink-0 place-items-center">
        <span className="sr-only">{t('conversationEdits.select', { title })}</span>
        <input
          type="checkbox"
          checked={chosen}
          onChange={(event) => select(id, event.target.checked)}
          className="size-4 accent-accent touch:size-5"
        />
      </label>
      {deletedAt !== null ? (
        <DeletedLine conversation={conversation} deletedAt={deletedAt} edits={edits} />
      ) : open === 'rename' ? (
        <RenameField title={title} save={(text) => edits.edit(id, { title: text })} onClose={close} />
      ) : (
        <>
          <ConversationLine orgSlug={org.slug} conversation={conversation} />
          <LineMenu conversation={conversation} edits={edits} open={setOpen} />
        </>
      )}
      {open === 'tags' ? (
        <TagsDialog
          title={t('conversationEdits.tagsOf', { title })}
          tags={conversation.tags}
          save={(tags) => edits.edit(id, { tags })}
          onClose={close}
        />
      ) : null}
    </div>
  );
}

function LineMenu({
  conversation,
  edits,
  open,
}: {
  conversation: ConversationSummary;
  edits: Edits;
  open: (what: 'rename' | 'tags') => void;
}) {
  const t = useTranslations();
  const { mayDelete } = useMayEdit();
  const { id, title, pinned, archivedAt } = conversation;
  const [PinIcon, ArchiveIcon] = [pinned ? PinOff : Pin, archivedAt === null ? Archive : ArchiveRestore];
  return (
    <Menu
      trigger={
        <Button tone="quiet" size="icon" className="mx-1.5" aria-label={t('common.actionsOf', { name: title })}>
          <Ellipsis aria-hidden />
        </Button>
      }
    >
      <MenuItem onSelect={() => open('rename')}>
        <PencilLine aria-hidden /> {t('conversationEdits.rename')}
      </MenuItem>
      <MenuItem onSelect={() => void edits.edit(id, { pinned: !pinned })}>
        <PinIcon aria-hidden /> {t(pinned ? 'conversationEdits.unpin' : 'conversationEdits.pin')}
      </MenuItem>
      <MenuItem onSelect={() => open('tags')}>
        <Tags aria-hidden /> {t('conversationEdits.editTags')}
      </MenuItem>
      <MenuSeparator />
      <MenuItem onSelect={() => void edits.run(archivedAt === null ? 'archive' : 'unarchive', [id])}>
        <ArchiveIcon aria-hidden />{' '}
        {t(archivedAt === null ? 'conversationEdits.archive' : 'conversationEdits.unarchive')}
      </MenuItem>
      {mayDelete(conversation) ? (
        <MenuItem onSelect={() => void edits.run('delete', [id])}>
          <Trash2 aria-hidden /> {t('common.delete2')}
        </MenuItem>
      ) : null}
    </Menu>
  );
}

/** In place of the line: Enter saves, Escape and leaving it do not. */
function RenameField({
  title,
  save,
  onClose,
}: {
  title: string;
  save: (text: string) => Promise<boolean>;
  onClose: () => void;
}) {
  const t = useTranslations();
  const [text, setText] = useState(title);
  const submit = async () => {
    const wanted = text.trim();
    if (wanted === '') return;
    if (wanted === title || (await save(wanted))) onClose();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
      className="flex h-11 min-w-0 flex-1 items-center gap-2 pr-3 md:px-6"
    >
      <Input
        autoFocus
        dir="auto"
        aria-label={t('conversationEdits.title')}
        autoComplete="off"
        maxLength={MAX_TITLE_LENGTH}
        value={text}
        onFocus={(event) => event.target.select()}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && onClose()}
      />
      <Button type="submit" tone="primary">
        {t('common.save')}
      </Button>
      <Button onClick={onClose} className="max-sm:hidden">
        {t('common.cancel')}
      </Button>
    </form>
  );
}

function DeletedLine({
  conversation,
  deletedAt,
  edits,
}: {
  conversation: ConversationSummary;
  deletedAt: string;
  edits: Edits;
}) {
  const t = useTranslations();
  const { mayDelete } = useMayEdit();
  return (
    <div className="flex min-h-11 min-w-0 flex-1 flex-wrap items-center gap-x-4 gap-y-0.5 py-1.5 pr-3 text-sm md:px-6">
      <span dir="auto" className="min-w-0 flex-1 basis-40 truncate font-medium">
        {conversation.title}
      </span>
      <span className="text-xs text-ink-muted max-sm:hidden">{conversation.createdBy.label}</span>
      <span className="text-xs text-ink-muted">{timeLeft(t, deletedAt, Date.now())}</span>
      {mayDelete(conversation) ? (
        <Button
          size="small"
          aria-label={t('conversationEdits.restoreOne', { title: conversation.title })}
          onClick={() => void edits.run('restore', [conversation.id])}
        >
          {t('conversationEdits.restore')}
        </Button>
      ) : null}
    </div>
  );
}
