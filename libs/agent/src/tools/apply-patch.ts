import { ApplyPatchAction } from '@slipway/contracts/actions';
import type { Tool } from '../ports.js';
import { define } from './tool.js';

export const APPLY_PATCH: Tool = {
  definition: define(
    'apply_patch',
    [
      'Changes several files, or several places of one, at once: all of the patch is applied or none. Paths are absolute, or from the directory of the shell. The form:',
      '*** Begin Patch',
      '*** Update File: src/a.ts',
      '@@ function f() {',
      '   unchanged line (three before and after, to find the place)',
      '-  old line',
      '+  new line',
      '*** Add File: src/b.ts',
      '+each line of the new file',
      '*** Delete File: src/c.ts',
      '*** End Patch',
      '`*** Move to: new/path` after `*** Update File: …` renames the file. `@@` with a line above the place is needed only where the lines stand several times. Line numbers are not used.',
    ].join('\n'),
    { patch: { type: 'string', description: 'From *** Begin Patch to *** End Patch.' } },
    ['patch'],
  ),
  kind: 'ApplyPatchAction',
  schema: ApplyPatchAction.strip(),
};
