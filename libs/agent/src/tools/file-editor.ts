import { FileEditorAction } from '@slipway/contracts/actions';
import type { Tool } from '../ports.js';
import { define } from './tool.js';

export const FILE_EDITOR: Tool = {
  definition: define(
    'file_editor',
    [
      'Views and edits text files, by absolute path.',
      '`view` shows a file with line numbers (or the lines of `view_range`), or lists a directory two levels deep. `create` writes a new file with `file_text`.',
      '`str_replace` replaces `old_str`, which must occur exactly once in the file, with `new_str`. `insert` puts `new_str` after line `insert_line` (0: before the first).',
      '`undo_edit` takes back the last edit of the file.',
    ].join('\n'),
    {
      command: { type: 'string', enum: ['view', 'create', 'str_replace', 'insert', 'undo_edit'] },
      path: { type: 'string', description: 'Absolute path.' },
      file_text: { type: 'string' },
      old_str: { type: 'string', description: 'Exact text, with enough lines around it to be unique.' },
      new_str: { type: 'string' },
      insert_line: { type: 'integer', minimum: 0 },
      view_range: {
        type: 'array',
        items: { type: 'integer' },
        minItems: 2,
        maxItems: 2,
        description: 'First and last line, from 1; -1 is the end.',
      },
    },
    ['command', 'path'],
  ),
  kind: 'FileEditorAction',
  schema: FileEditorAction.strip(),
  aliases: ['str_replace_editor'],
  readOnly: (action) => action.kind === 'FileEditorAction' && action.command === 'view',
};
