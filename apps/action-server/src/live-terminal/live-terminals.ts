import { randomBytes } from 'node:crypto';
import { MAX_SHELLS, ShellLiveRequest, type TerminalLiveMessage, TerminalLiveRequest } from '@slipway/contracts/live';
import type { LiveChannel, LiveConnection } from '../http/live.js';
import type { OutputAllowance } from '../terminal/output-allowance.js';
import type { ShellEnvironment } from '../terminal/shell-environment.js';
import { AgentShells } from './agent-shells.js';
import { UserShell } from './user-shell.js';

/** As other codes of live channels: 4000 and above are not tried again by themselves. */
const NO_SUCH_SHELL = 4010;

/** The shells of users in this sandbox, and the agent's to watch. */
export class LiveTerminals {
  readonly #shells = new Map<string, UserShell>();
  readonly #lists = new Set<LiveConnection>();
  readonly #agent = new AgentShells(() => this.#notifyAll());
  #opened = 0;

  /**
   * @param options.directory where a new shell begins. @param options.allowance of all terminals of the sandbox
   * together.
   */
  constructor(
    private readonly options: {
      readonly environment: ShellEnvironment;
      readonly directory: () => string;
      readonly allowance: OutputAllowance;
    },
  ) {}

  /** For the agent's terminals to say what they do. */
  get watch(): AgentShells['watch'] {
    return this.#agent.watch;
  }

  /** The channel `terminal`. */
  readonly channel: LiveChannel = (connection, query) => {
    const id = query.get('shell');
    if (id === null) this.#list(connection);
    else this.#attach(connection, id);
  };

  /** Ends all of them at once. */
  close(): void {
    for (const shell of this.#shells.values()) shell.kill();
  }

  #list(connection: LiveConnection): void {
    this.#lists.add(connection);
    connection.signal.addEventListener('abort', () => this.#lists.delete(connection));
    this.#tell(connection);
    connection.onMessage((message) => {
      const request = TerminalLiveRequest.safeParse(message).data;
      if (request === undefined) throw new Error('this is no request of the list of shells');
      if (request.type === 'close-shell') this.#close(request.shell);
      else connection.send(this.#open(request.cols, request.rows));
    });
  }

  #attach(connection: LiveConnection, id: string): void {
    const shell = this.#shells.get(id);
    const feed = shell?.feed ?? this.#agent.feed(id);
    if (feed === undefined) {
      connection.close(NO_SUCH_SHELL, 'This shell has been closed, or ended with its sandbox');
      return;
    }
    if (shell === undefined) {
      const viewer = feed.attach(connection);
      connection.onBytes(() =>
        viewer.tell({ type: 'not-typed', reason: 'This is the agent’s terminal: it is read-only.' }),
      );
      connection.onMessage((message) => {
        const request = ShellLiveRequest.safeParse(message).data;
        if (request?.type === 'seen') viewer.seen(request.at);
      });
      return;
    }
    const viewer = shell.attach(connection);
    connection.onMessage((message) => {
      const request = ShellLiveRequest.safeParse(message).data;
      if (request === undefined) throw new Error('this is no request of a shell');
      if (request.type === 'seen') viewer.seen(request.at);
      else if (request.type === 'resize') shell.resize(request.cols, request.rows);
      else shell.interrupt();
    });
  }

  #open(cols: number, rows: number): TerminalLiveMessage {
    this.#makeRoom();
    if (this.#shells.size >= MAX_SHELLS)
      return {
        type: 'not-opened',
        reason: `${MAX_SHELLS} shells are open, which is as many as there may be. Close one first.`,
      };
    this.#opened += 1;
    const id = randomBytes(6).toString('hex');
    try {
      const { allowance, directory, environment } = this.options;
      const shell = new UserShell(
        { id, title: `Shell ${this.#opened}`, cols, rows, cwd: directory(), env: environment.forPeople(), allowance },
        () => this.#notifyAll(),
      );
      this.#shells.set(id, shell);
    } catch (error) {
      return {
        type: 'not-opened',
        reason: `The sandbox has no room for another shell: ${String((error as Error).message)}`,
      };
    }
    this.#notifyAll();
    return { type: 'opened', shell: id };
  }

  /** One that has ended stays to be read, until its place is needed. */
  #makeRoom(): void {
    if (this.#shells.size < MAX_SHELLS) return;
    const ended = [...this.#shells].find(([, { feed }]) => feed.shell.exitCode !== null)?.[0];
    if (ended !== undefined) this.#shells.delete(ended);
  }

  #close(id: string): void {
    this.#shells.get(id)?.close();
    if (this.#shells.delete(id)) this.#notifyAll();
  }

  #notifyAll(): void {
    for (const connection of this.#lists) this.#tell(connection);
  }

  #tell(connection: LiveConnection): void {
    const shells = [...[...this.#shells.values()].map(({ feed }) => feed.shell), ...this.#agent.shells];
    connection.send({ type: 'shells', shells } satisfies TerminalLiveMessage);
  }
}
