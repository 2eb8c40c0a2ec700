import type { Tool } from '../ports.js';
import { APPLY_PATCH } from './apply-patch.js';
import { BROWSER_TOOLS } from './browser.js';
import { EDIT_FILE } from './file-edit.js';
import { FILE_EDITOR } from './file-editor.js';
import { FINISH } from './finish.js';
import { IPYTHON } from './ipython.js';
import { GLOB, GREP, LIST_DIRECTORY } from './search.js';
import { TASK_TRACKER } from './task-tracker.js';
import { TERMINAL } from './terminal.js';
import { THINK } from './think.js';

/**
 * What every agent can do unless its start says otherwise, or the image of the sandbox misses a requirement, in the
 * order in which the model reads it.
 */
export const STANDARD_TOOLS: readonly Tool[] = [
  TERMINAL,
  FILE_EDITOR,
  APPLY_PATCH,
  EDIT_FILE,
  IPYTHON,
  GLOB,
  GREP,
  LIST_DIRECTORY,
  ...BROWSER_TOOLS,
  TASK_TRACKER,
  THINK,
  FINISH,
];
