import { TerminalAction } from '@slipway/contracts/actions';
import type { Tool } from '../ports.js';
import { define } from './tool.js';

export const TERMINAL: Tool = {
  definition: define(
    'terminal',
    [
      'Runs a command in a shell that stays open between calls: directory, variables and background jobs are kept.',
      'A command that is quiet for 30 seconds (or longer than `timeout`) answers with exit code -1 and goes on running. Then send an empty `command` to read more,',
      'text with `is_input: true` for its standard input, or the keys `C-c`, `C-d`, `C-z` with `is_input: true`. Start servers in the background with output to a file.',
      'Long output is cut in the middle; the answer names the file that holds all of it.',
    ].join('\n'),
    {
      command: {
        type: 'string',
        description: 'The command, input or key. Empty: read more output of the running command.',
      },
      is_input: { type: 'boolean', description: 'Send `command` to the running program instead of starting one.' },
      timeout: { type: 'number', description: 'Seconds to wait for the end of the command. At most 3600.' },
      session: {
        type: 'string',
        description: 'Another terminal beside the first, by a name of yours: for a server, or a long test. At most 8.',
      },
      reset: { type: 'boolean', description: 'Start a new shell first; everything running in the old one ends.' },
    },
    ['command'],
  ),
  kind: 'TerminalAction',
  schema: TerminalAction.strip(),
  aliases: ['execute_bash', 'bash'],
};
