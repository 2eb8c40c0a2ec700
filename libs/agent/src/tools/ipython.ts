import { IPythonRunCellAction } from '@slipway/contracts/actions';
import type { Tool } from '../ports.js';
import { define } from './tool.js';

/** OpenHands' name for it. Offered only where the sandbox can run cells. */
export const IPYTHON: Tool = {
  definition: define(
    'execute_ipython_cell',
    [
      'Runs a cell of Python in a Jupyter kernel that keeps its variables from cell to cell. Pictures (matplotlib) and tables are shown.',
      '`!command` and magics work. The kernel’s variables are not the shell’s. `input()` gets no answer.',
    ].join('\n'),
    {
      code: { type: 'string' },
      timeout: { type: 'number', description: 'Seconds; then the cell is interrupted. 120 when absent, at most 3600.' },
      reset: { type: 'boolean', description: 'Start a new kernel first; all variables are gone.' },
    },
    ['code'],
  ),
  kind: 'IPythonRunCellAction',
  schema: IPythonRunCellAction.strip(),
  aliases: ['ipython', 'python'],
};
