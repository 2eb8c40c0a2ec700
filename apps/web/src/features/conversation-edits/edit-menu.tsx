'use client';
import { MAX_TITLE_LENGTH } from '@slipway/contracts/conversations';
import { MenuItem } from '@slipway/ui';
import { Archive, ArchiveRestore, PencilLine, Pin, PinOff, Trash2 } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useTranslations } from 'next-intl';
import { type ReactNode, useState } from 'react';
import { useCommand } from '../commands/command-context.tsx';
import { COMMANDS } from '../commands/commands.ts';
import { useAvailableCommands } from '../commands/use-available-commands.ts';
import { useConversation, useView } from '../conversation/conversation-context.ts';
import { useSession } from '../session/me.ts';
import { useMayEdit } from './may-edit.ts';
import { TextDialog } from './text-dialog.tsx';
import { useEdits } from './use-edits.ts';

/** In the order of the menu. */
const ENTRIES = [
  ['edit.rename', PencilLine],
  ['edit.pin', Pin],
  ['edit.unpin', PinOff],
  ['edit.archive', Archive],
  ['edit.unarchive', ArchiveRestore],
] as const;

/**
 * Offers the commands that change the open conversation, their entries of its menu, and what they open. `remove` is the
 * entry that deletes it, which stands apart.
 */
export function useEditMenu(): { items: ReactNode; remove: ReactNode; dialog: ReactNode } {
  const t = useTranslations();
  const { conversation } = useConversation();
  const { org } = useSession();
  const router = useRouter();
  const edits = useEdits();
  const { mayEdit, mayDelete } = useMayEdit();
  const { ids, run } = useAvailableCommands();
  const title = useView((view) => view.title);
  const [pinned, setPinned] = useState(conversation.pinned);
  const [archived, setArchived] = useState(conversation.archivedAt !== null);
  const [renames, setRenames] = useState(false);
  const { id } = conversation;
  const pin = async (next: boolean) => {
    if (await edits.edit(id, { pinned: next })) setPinned(next);
  };
  const archive = (action: 'archive' | 'unarchive') =>
    void edits.run(action, [id], (done) => setArchived(done === 'archive'));
  const remove = () =>
    void edits.run('delete', [id], (done) => {
      if (done === 'delete') router.push(`/${org.slug}/conversations`);
    });
  useCommand('edit.rename', mayEdit ? () => setRenames(true) : null);
  useCommand('edit.pin', mayEdit && !pinned ? () => void pin(true) : null);
  useCommand('edit.unpin', mayEdit && pinned ? () => void pin(false) : null);
  useCommand('edit.archive', mayEdit && !archived ? () => archive('archive') : null);
  useCommand('edit.unarchive', mayEdit && archived ? () => archive('unarchive') : null);
  useCommand('edit.delete', mayDelete(conversation) ? remove : null);
  const offered = ENTRIES.filter(([command]) => ids.includes(command));
  return {
    items:
      offered.length === 0
        ? null
        : offered.map(([command, Icon]) => (
            <MenuItem key={command} onSelect={() => run(command)}>
              <Icon aria-hidden /> {t(COMMANDS[command].label)}
            </MenuItem>
          )),
    remove: ids.includes('edit.delete') ? (
      <MenuItem onSelect={() => run('edit.delete')}>
        <Trash2 aria-hidden /> {t(COMMANDS['edit.delete'].label)}
      </MenuItem>
    ) : null,
    dialog: renames ? (
      <TextDialog
        title={t('commands.renameConversation')}
        label={t('conversationEdits.title')}
        initial={title}
        maxLength={MAX_TITLE_LENGTH}
        save={(text) => (text === '' ? Promise.resolve(false) : edits.edit(id, { title: text }))}
        onClose={() => setRenames(false)}
      />
    ) : null,
  };
}
