import { randomUUID } from 'node:crypto';
import type { BashOutput, ExecuteBashRequest } from '@slipway/contracts/agent';
import { SlipwayError } from '@slipway/errors';
import type { ActionServerClient } from './action-server-client.js';

/** Commands and outputs that are remembered; the oldest are forgotten first. */
const MAX_REMEMBERED = 1_000;

export interface BashCommand {
  readonly id: string;
  readonly kind: 'BashCommand';
  readonly command: string;
  readonly cwd: string | null;
  /** Seconds. */
  readonly timeout: number;
  readonly timestamp: string;
}
export type BashEvent = BashCommand | BashOutput;

/**
 * Commands of the platform and of SDK clients, outside the agent's shell, with what they printed. In memory: a restart
 * of this process forgets them.
 */
export class BashEvents {
  private readonly kept: BashEvent[] = [];
  private readonly running = new Map<string, AbortController>();
  private readonly listeners = new Set<(event: BashEvent) => void>();

  constructor(
    private readonly actionServer: ActionServerClient,
    private readonly hide: (text: string) => string,
  ) {}

  /** Oldest first. */
  get events(): readonly BashEvent[] {
    return this.kept;
  }

  /** Runs it to its end. Rejects as the tool process refuses; `signal` kills it. */
  async execute(request: ExecuteBashRequest, signal: AbortSignal): Promise<BashOutput> {
    const command = this.begin(request);
    const output = await this.run(command, AbortSignal.any([signal, this.stopOf(command)])).finally(() =>
      this.running.delete(command.id),
    );
    this.remember(output);
    return output;
  }

  /** Answers at once; what it prints and how it ends are events. */
  start(request: ExecuteBashRequest): BashCommand {
    const command = this.begin(request);
    void this.run(command, this.stopOf(command))
      .catch((error: unknown) =>
        outputOf(command, -1, '', this.running.get(command.id)?.signal.aborted === true ? 'stopped' : saidOf(error)),
      )
      .then((output) => {
        this.running.delete(command.id);
        this.remember(output);
      });
    return command;
  }

  /** Kills the command; one that has ended, or is not known, is left as it is. */
  stop(id: string): void {
    this.running.get(id)?.abort(new Error('stopped'));
  }

  /** Forgets what has happened; what runs goes on. @returns how many events. */
  clear(): number {
    return this.kept.splice(0).length;
  }

  subscribe(listener: (event: BashEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private begin(request: ExecuteBashRequest): BashCommand {
    const { command, cwd, timeout } = request;
    const event: BashCommand = {
      id: randomUUID(),
      kind: 'BashCommand',
      command,
      cwd: cwd ?? null,
      timeout,
      timestamp: new Date().toISOString(),
    };
    this.remember(event);
    return event;
  }

  private stopOf(command: BashCommand): AbortSignal {
    const control = new AbortController();
    this.running.set(command.id, control);
    return control.signal;
  }

  private async run({ command, cwd, timeout, ...event }: BashCommand, signal: AbortSignal): Promise<BashOutput> {
    const { exitCode, stdout, stderr } = await this.actionServer.runCommand(
      { command, timeout, ...(cwd === null ? {} : { cwd }) },
      signal,
    );
    return outputOf(event, exitCode, this.hide(stdout), this.hide(stderr));
  }

  private remember(event: BashEvent): void {
    this.kept.push(event);
    if (this.kept.length > MAX_REMEMBERED) this.kept.shift();
    for (const listener of this.listeners) listener(event);
  }
}

export function commandIdOf(event: BashEvent): string {
  return event.kind === 'BashCommand' ? event.id : event.command_id;
}

function saidOf(error: unknown): string {
  return error instanceof SlipwayError ? error.detail : 'The command could not be run.';
}

function outputOf(command: Pick<BashCommand, 'id'>, exitCode: number, stdout: string, stderr: string): BashOutput {
  return {
    id: randomUUID(),
    kind: 'BashOutput',
    command_id: command.id,
    order: 0,
    exit_code: exitCode,
    stdout: stdout === '' ? null : stdout,
    stderr: stderr === '' ? null : stderr,
    timestamp: new Date().toISOString(),
  };
}
