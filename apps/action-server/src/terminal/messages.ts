/** Sentences that the agent reads. Each says what happened and what it can do next. */
const NEXT =
  "You can wait for more with an empty command (''), send text or a key (C-c, C-d, C-z) to it with is_input=true, or give a longer timeout next time.";

export const quietSuffix = (seconds: number): string =>
  `\n[The command has printed nothing for ${seconds} seconds and is still running. ${NEXT}]`;
export const hardTimeoutSuffix = (seconds: number): string =>
  `\n[The command is still running after ${seconds} seconds. ${NEXT}]`;
export const completedSuffix = (exitCode: number): string => `\n[The command completed with exit code ${exitCode}.]`;
export const shellEndedSuffix = (exitCode: number, directory: string): string =>
  `\n[The shell ended with exit code ${exitCode}. The next command runs in a new shell in ${directory}; variables, functions and aliases are gone.]`;
export const diskFullSuffix =
  '\n[The disk of the sandbox is full (sandbox.disk-full): delete files that you do not need, then go on.]';
export const CONTINUED_PREFIX = '[Output of the command that was still running.]\n';
export const EARLIER_PREFIX = '[Output since the last command, of what ran in the background.]\n';

export const busy = (command: string): string =>
  `Not run: an earlier command is still running (${shortened(command)}). ${NEXT} To give it up, send C-c with is_input=true, or set reset=true for a new shell.`;
export const NOTHING_RUNS =
  'No command is running: there is nothing to send input to. Send the command without is_input.';
export const NOT_READ =
  'Not typed: the program does not read what was typed before. Wait for it with an empty command, or end it with C-c.';
export const NOTHING_TO_READ = 'No command is running: there is no further output. Send a command.';
export const RESET_WITH_INPUT = 'reset=true starts a new shell; it cannot be combined with is_input=true.';
export const NUL_IN_COMMAND =
  "Not run: the command holds a NUL character, which bash cannot take. Write it as an escape, such as printf '\\0'.";
export const tooLong = (length: number, limit: number): string =>
  `Not run: the command has ${length} characters and the limit is ${limit}. Write a file with the file editor and run that.`;
export const tooManySessions = (limit: number, names: readonly string[]): string =>
  `Not run: there are ${limit} terminals, and no more can be opened. Use one of them (${names.join(', ')}), or end the shell of one with \`exit\`.`;
export const NO_SHELL =
  'No shell can be started: the sandbox has no room for another process. Set reset=true, which ends what the terminals have started, or wait until some of it has ended.';
export const RESET_DONE = 'A new shell was started; variables, functions and running programs of the old one are gone.';

function shortened(command: string): string {
  const line = command.replaceAll(/\s+/g, ' ').trim();
  return line.length > 100 ? `${line.slice(0, 100)}…` : line;
}
