import { randomBytes } from 'node:crypto';
import { type IPty, spawn } from '@lydell/node-pty';
import { SlipwayError } from '@slipway/errors';
import { ShellInput } from '../live-terminal/shell-input.js';
import { killSession } from '../process/kill.js';
import { processRow, signalGroup } from '../process/process-table.js';
import { nameAsker } from './egress-asker.js';
import { type EndOfCommand, MarkerScanner } from './marker-scanner.js';
import { NO_SHELL } from './messages.js';
import type { OutputAllowance } from './output-allowance.js';
import { PacedOutput } from './paced-output.js';

/**
 * Longest text in one line of a terminal is 4,095 bytes; a command is sent in pieces that stay below it in their quoted
 * form. UTF-16 code units.
 */
const PIECE = 700;
/** Keys as a terminal has them. */
const KILL_LINE = '\x15';
const INTERRUPT = '\x03';

export interface ShellListener {
  /** Of the command that runs, or between commands (`sequence` 0) of background jobs. */
  output(sequence: number, bytes: Buffer): void;
  end(end: EndOfCommand): void;
  /** The shell is no more; nothing follows. Exit codes as bash gives them: 128 + n for signal n. */
  exit(exitCode: number): void;
}

/**
 * One interactive bash on a pseudo-terminal, so that directory, variables and functions last from command to command,
 * programs see a terminal, and each program is a process group that can be interrupted without the shell.
 *
 * A command goes in as one `eval` of a quoted string: nothing in it can be taken for the frame around it, and a program
 * that reads its input never eats the next line. The end is a mark that bash writes to its terminal, from the same line
 * or, when that line was interrupted, from the prompt.
 */
export class Shell {
  readonly #pty: IPty;
  readonly #scanner: MarkerScanner;
  readonly #input: ShellInput;
  /** Something has been typed since the last command began: some of it may stand in the terminal yet. */
  #typed = false;
  /** 0 between commands. */
  #sequence = 0;
  #started = false;
  #ended = false;

  constructor(
    options: { cwd: string; env: Readonly<Record<string, string>>; allowance: OutputAllowance },
    private readonly listener: ShellListener,
  ) {
    const nonce = randomBytes(12).toString('hex');
    this.#scanner = new MarkerScanner(nonce);
    this.#pty = started(options);
    new PacedOutput(this.#pty, options.allowance, (bytes) => this.#read(bytes));
    this.#input = new ShellInput(this.#pty);
    this.#pty.onExit(({ exitCode, signal }) => {
      this.#ended = true;
      this.#input.discard();
      this.listener.exit(signal ? 128 + signal : exitCode);
    });
    this.#pty.write(setUp(nonce));
  }

  get pid(): number {
    return this.#pty.pid;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Runs one command, of this action; must not be called before the last one has ended. */
  run(sequence: number, command: string, actionId = ''): void {
    this.#sequence = sequence;
    this.#started = false;
    // A line that was begun for the program before is none of this command.
    this.#pty.write((this.#typed ? KILL_LINE : '') + frame(sequence, command, actionId));
    this.#typed = false;
  }

  /**
   * Goes to the program in the foreground, as if it were typed; what it has not read when the command ends is thrown
   * away. @returns false when it does not read, and too much waits already.
   */
  type(bytes: string): boolean {
    this.#typed = true;
    // A terminal that takes no more takes this key neither.
    if (bytes !== INTERRUPT || !this.#input.waits) return this.#input.write(Buffer.from(bytes));
    this.#input.discard();
    this.interrupt();
    return true;
  }

  /** Process group in the foreground, or `undefined` when that is the shell itself. */
  foregroundGroup(): number | undefined {
    const row = processRow(this.pid);
    return row === undefined || row.foreground === row.group || row.foreground <= 0 ? undefined : row.foreground;
  }

  /** As Ctrl-C, but also for a program that has turned the key off. */
  interrupt(): void {
    signalGroup(this.foregroundGroup() ?? this.pid, 'SIGINT');
  }

  /** The shell and everything that it started. */
  kill(): void {
    if (!this.#ended) killSession(this.pid);
  }

  #read(chunk: Buffer): void {
    for (const scanned of this.#scanner.push(chunk)) {
      if (scanned.kind === 'start') this.#started = this.#sequence === scanned.sequence;
      else if (scanned.kind === 'end') {
        if (scanned.sequence !== this.#sequence) continue;
        this.#sequence = 0;
        this.#input.discard();
        this.listener.end(scanned);
      } else if (this.#sequence === 0 || this.#started) this.listener.output(this.#sequence, scanned.bytes);
      // Before the start mark come only the terminal's echo and bash's own trace of the frame.
    }
  }
}

/** @throws SlipwayError `sandbox.tool-unavailable` when the system has no room for another process. */
function started(options: { cwd: string; env: Readonly<Record<string, string>> }): IPty {
  try {
    return spawn('bash', ['--noprofile', '--norc', '--noediting', '-i'], {
      name: 'dumb',
      cols: 160,
      rows: 50,
      cwd: options.cwd,
      env: { ...options.env, PS1: '', PS2: '' },
      encoding: null,
    });
  } catch (error) {
    throw new SlipwayError('sandbox.tool-unavailable', NO_SHELL, { cause: error });
  }
}

/** Sent as the first line. No file is needed for it: a full disk must not keep anybody from deleting files. */
function setUp(nonce: string): string {
  const mark = (fields: string) => `builtin printf '\\033]7770;%s;${fields};%s\\007' ${nonce}`;
  // A command may set a prompt of its own; it lasts until the command's end.
  const prompt = "builtin unset -v PROMPT_COMMAND; PROMPT_COMMAND='{ __slipway_end; } 2>/dev/null' PS1= PS2=";
  // What was typed for a command is not for the shell to run; `REPLY` is the command's own.
  const unread =
    '{ while builtin read -r -t 0; do builtin read -r -t 1 __slipway_unread || builtin break; done; builtin unset -v __slipway_unread; } </dev/tty 2>/dev/null';
  const lines = [
    'stty -echo -onlcr 2>/dev/null',
    'set +o history +o histexpand',
    'export -n PS1 PS2',
    'unset HISTFILE MAILCHECK',
    'shopt -u checkwinsize',
    '__slipway_sequence= __slipway_status=0',
    // `$?` of the last command is there for the next one; under `set -e` a failing frame would end the shell.
    nameAsker('__slipway_ask'),
    `__slipway_begin() { __slipway_sequence=$1; __slipway_ask "\${2-}"; ${mark('start\\037%s')} "$1" ${nonce} >/dev/tty; [[ $- == *e* ]] || builtin return "$__slipway_status"; }`,
    `__slipway_end() { builtin local status=$?; [[ -n \${1-} ]] && status=$1; [[ -n \${__slipway_sequence-} ]] || builtin return 0; ${unread}; ${mark('end\\037%s\\037%s\\037%s\\037%s\\037%s')} "$__slipway_sequence" "$status" "\${!-}" "$PWD" "\${PATH+\${PATH:0:32768}}" ${nonce} >/dev/tty; __slipway_status=$status __slipway_sequence= __slipway_command=; ${prompt}; }`,
    'readonly -f __slipway_ask __slipway_begin __slipway_end',
    prompt,
  ];
  return `${lines.join('; ')}\n`;
}

/**
 * The start mark stands inside the `eval`, so that what bash prints of the frame itself under `set -x` comes before it.
 */
function frame(sequence: number, command: string, actionId: string): string {
  const begin = `{ __slipway_begin ${sequence} ${actionId}; } 2>/dev/null\n`;
  // A command that ended in the middle of its syntax leaves bash's parser so that it takes no reserved word first: none
  // stands there.
  const end = '; { __slipway_end "$?"; } 2>/dev/null\n';
  if (command.length <= PIECE) return `builtin eval ${quoted(begin + command)}${end}`;
  const pieces: string[] = [];
  for (let at = 0; at < command.length; ) {
    let next = at + PIECE;
    // A pair of surrogates is one character.
    if (/[\ud800-\udbff]/.test(command[next - 1] ?? '')) next++;
    pieces.push(`__slipway_command${at === 0 ? '' : '+'}=${quoted(command.slice(at, next))}\n`);
    at = next;
  }
  return `${pieces.join('')}builtin eval ${quoted(begin)}"$__slipway_command"${end}`;
}

/**
 * A bash word that no byte of the text can leave: control characters, which a terminal would act on, are written in
 * octal.
 */
function quoted(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal acts on them
  return `$'${text.replace(/[\\']/g, '\\$&').replace(/[\x00-\x1f\x7f]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`)}'`;
}
