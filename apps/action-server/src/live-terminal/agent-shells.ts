import { type LiveShell, MAX_SHELLS } from '@slipway/contracts/live';
import type { TerminalWatch } from '../terminal/terminal-watch.js';
import { ShellFeed } from './shell-feed.js';

/** As the agent's terminals have it. */
const [COLS, ROWS] = [160, 50];
// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal acts on them
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f]/g;

/**
 * What the agent runs, by terminal, for users to watch: its commands, what they print as they print it, and how they
 * ended.
 */
export class AgentShells {
  readonly #feeds = new Map<string, ShellFeed>();

  constructor(private readonly changed: () => void) {}

  get shells(): LiveShell[] {
    return [...this.#feeds.values()].map(({ shell }) => shell);
  }

  feed(id: string): ShellFeed | undefined {
    return this.#feeds.get(id);
  }

  /** Keeps what one of the agent's terminals does from its first command on. */
  readonly watch = (session: string): TerminalWatch => {
    let atLineStart = true;
    const write = (bytes: Buffer): void => {
      if (bytes.length === 0) return;
      this.#of(session).push(bytes);
      atLineStart = bytes.at(-1) === 0x0a;
    };
    const line = (style: string, text: string): void =>
      write(Buffer.from(`${atLineStart ? '' : '\n'}\x1b[${style}m${text.replace(CONTROLS, '')}\x1b[0m\n`));
    return {
      command: (command) => line('36', `$ ${command.trimEnd().replaceAll('\n', '\n> ')}`),
      typed: (input) => line('2', `← ${input}`),
      output: write,
      ended: (exitCode) => {
        if (exitCode !== 0) line('2', `[exit ${exitCode}]`);
      },
    };
  };

  #of(session: string): ShellFeed {
    const id = `agent-${session}`;
    const known = this.#feeds.get(id);
    // The last to write stands last: the one that has been silent longest makes room.
    if (known !== undefined) {
      this.#feeds.delete(id);
      this.#feeds.set(id, known);
      return known;
    }
    const [silent] = [...this.#feeds].find(([, feed]) => !feed.watched) ?? [...this.#feeds][0] ?? [];
    if (this.#feeds.size >= MAX_SHELLS && silent !== undefined) this.#feeds.delete(silent);
    const feed = new ShellFeed(
      { id, owner: 'agent', title: session, cols: COLS, rows: ROWS, exitCode: null },
      null,
      () => {},
    );
    this.#feeds.set(id, feed);
    this.changed();
    return feed;
  }
}
