import { FileEditorAction } from '@slipway/contracts/actions';
import type { Tool } from '../ports.js';
import { FILE_EDITOR } from './file-editor.js';
import { FINISH } from './finish.js';
import { STANDARD_TOOLS } from './standard-tools.js';
import { define } from './tool.js';

const { properties } = FILE_EDITOR.definition.parameters as { properties: Record<string, unknown> };

/** The read-only file editor: every other command is an error that says so. */
export const FILE_VIEWER: Tool = {
  ...FILE_EDITOR,
  definition: define(
    'file_editor',
    'Views text files, by absolute path: `view` shows a file with line numbers (or the lines of `view_range`), or lists a directory two levels deep. Nothing can be changed.',
    { command: { type: 'string', enum: ['view'] }, path: properties['path'], view_range: properties['view_range'] },
    ['command', 'path'],
  ),
  schema: FileEditorAction.strip().refine(({ command }) => command === 'view', {
    path: ['command'],
    message: 'you can only view files here',
  }),
  readOnly: true,
};

/** Tools of an agent that must change nothing, and end by itself. */
export const LOOKING_TOOLS: readonly Tool[] = [
  FILE_VIEWER,
  ...STANDARD_TOOLS.filter(({ readOnly }) => readOnly === true),
  FINISH,
];
