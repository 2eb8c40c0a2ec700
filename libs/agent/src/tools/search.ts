import {
  GlobAction,
  GrepAction,
  ListDirectoryAction,
  MAX_LISTED_ENTRIES,
  MAX_SEARCH_RESULTS,
} from '@slipway/contracts/actions';
import type { Tool } from '../ports.js';
import { define } from './tool.js';

const PLACE = { type: 'string', description: 'Directory to search. Absent: the directory of the shell.' };

export const GLOB: Tool = {
  definition: define(
    'glob',
    `Finds files by name, the ones changed last first, at most ${MAX_SEARCH_RESULTS}. Files that .gitignore names are left out.`,
    { pattern: { type: 'string', description: 'For example *.ts (at every depth) or src/**/*.{js,ts}.' }, path: PLACE },
    ['pattern'],
  ),
  kind: 'GlobAction',
  schema: GlobAction.strip(),
  readOnly: true,
};

export const GREP: Tool = {
  definition: define(
    'grep',
    `Finds lines by a regular expression (ripgrep), at most ${MAX_SEARCH_RESULTS}, with file and line number. Files that .gitignore names, and binary files, are left out.`,
    {
      pattern: { type: 'string', description: 'Regular expression. (?i) at its beginning ignores case.' },
      path: { type: 'string', description: 'Directory or file to search. Absent: the directory of the shell.' },
      include: { type: 'string', description: 'Only files of this glob, such as *.{ts,tsx}.' },
    },
    ['pattern'],
  ),
  kind: 'GrepAction',
  schema: GrepAction.strip(),
  readOnly: true,
};

export const LIST_DIRECTORY: Tool = {
  definition: define(
    'list_directory',
    `Lists a directory, hidden entries too, at most ${MAX_LISTED_ENTRIES}.`,
    {
      dir_path: { type: 'string', description: 'Absent: the directory of the shell.' },
      recursive: { type: 'boolean', description: 'Also what is in the directories directly below.' },
    },
    [],
  ),
  kind: 'ListDirectoryAction',
  schema: ListDirectoryAction.strip(),
  aliases: ['list'],
  readOnly: true,
};
