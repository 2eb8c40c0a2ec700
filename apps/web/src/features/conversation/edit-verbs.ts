import type { MessageKey } from '../../messages/translate.ts';
import type { FileEdit } from './file-edit.ts';
import type { PatchedLines } from './patch-lines.ts';

/** What was done to a file, before its path. */
export const EDIT_VERBS: Readonly<Record<FileEdit['verb'] | PatchedLines['files'][number]['verb'], MessageKey>> = {
  added: 'conversation.added',
  created: 'conversation.created',
  edited: 'conversation.edited',
  inserted: 'conversation.insertedInto',
  undone: 'conversation.undidAnEditOf',
  deleted: 'conversation.deleted',
  moved: 'conversation.moved',
};
