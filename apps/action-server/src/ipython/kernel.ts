import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { endOf } from '@slipway/contracts/actions';
import { SlipwayError } from '@slipway/errors';
import { z } from 'zod';
import { killSession } from '../process/kill.js';
import type { OutputAllowance } from '../terminal/output-allowance.js';
import { PacedStream } from '../terminal/paced-output.js';
import { BRIDGE_PROGRAM } from './bridge-program.js';

/** Longest start of a kernel, on a slow disk. Milliseconds. */
const START_MS = 60_000;
/**
 * What a message of the kernel costs of the allowance beside its bytes: it is taken apart by two processes, however
 * short it is. Bytes.
 */
const MESSAGE_COST = 4_096;

const Said = z.object({
  ready: z.literal(true).optional(),
  id: z.int().optional(),
  stream: z.string().optional(),
  display: z.record(z.string(), z.unknown()).optional(),
  error: z.string().optional(),
  done: z.enum(['ok', 'error', 'died']).optional(),
  count: z.int().nullish(),
});
type Said = z.infer<typeof Said>;

export interface CellEnd {
  /** `gone`: the kernel and what speaks to it are no more. */
  readonly status: 'ok' | 'error' | 'died' | 'gone';
  readonly count: number | null;
}

export interface CellListener {
  text(text: string): void;
  /** By media type; pictures in base64. */
  display(data: Readonly<Record<string, unknown>>): void;
}

export interface KernelOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** How fast it is read; a kernel that prints more is stopped until that was taken. */
  readonly allowance: OutputAllowance;
  readonly signal: AbortSignal;
}

/** A Python kernel, and the process that speaks to it. Cells are run one after another. */
export class Kernel {
  #listeners = new Map<number, { readonly listener: CellListener; readonly end: (end: CellEnd) => void }>();
  #cells = 0;
  #ended = false;
  readonly #pace: PacedStream;

  private constructor(
    private readonly child: ChildProcessByStdio<Writable, Readable, Readable>,
    private readonly folder: string,
    allowance: OutputAllowance,
  ) {
    this.#pace = new PacedStream(
      child.stdout,
      allowance,
      () => {},
      (bytes) => bytes.length + linesIn(bytes) * MESSAGE_COST,
    );
    child.stdin.on('error', () => {});
    child.once('close', () => this.#gone());
  }

  /** @throws SlipwayError `sandbox.tool-unavailable` with the last that Python said, or the signal's reason. */
  static async start(python: string, { cwd, env, allowance, signal }: KernelOptions): Promise<Kernel> {
    signal.throwIfAborted();
    // Short, because the path of a socket may have 107 bytes.
    const folder = mkdtempSync(path.join(os.tmpdir(), 'ipy-'));
    const child = spawn(python, ['-u', '-c', BRIDGE_PROGRAM, folder], {
      cwd,
      env: { ...env },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const kernel = new Kernel(child, folder, allowance);
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr = endOf(stderr + chunk.toString(), 2_000);
    });
    const failed = (): SlipwayError =>
      new SlipwayError(
        'sandbox.tool-unavailable',
        `The Python kernel could not be started: ${stderr.trim().split('\n').at(-1) || 'it gave no reason'}. Use the terminal.`,
      );
    let stop: (error: unknown) => void = () => {};
    const onAbort = (): void => stop(signal.reason);
    const timer = setTimeout(() => stop(failed()), START_MS);
    try {
      await new Promise<void>((resolve, reject) => {
        stop = reject;
        signal.addEventListener('abort', onAbort, { once: true });
        child.once('error', () => reject(failed()));
        child.once('close', () => reject(failed()));
        createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
          const said = read(line);
          if (said?.ready === true) resolve();
          else if (said !== undefined) kernel.#hear(said);
        });
      });
      return kernel;
    } catch (error) {
      kernel.kill();
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** `silent`: leaves no trace in the kernel's history and count. */
  run(code: string, listener: CellListener, options: { readonly silent: boolean }): Promise<CellEnd> {
    if (this.#ended) return Promise.resolve({ status: 'gone', count: null });
    this.#cells += 1;
    const id = this.#cells;
    return new Promise((end) => {
      this.#listeners.set(id, { listener, end });
      this.child.stdin.write(`${JSON.stringify({ id, code, silent: options.silent })}\n`);
    });
  }

  /** What the cell has printed until then is read at once, so that it ends soon. */
  interrupt(): void {
    if (this.#ended) return;
    this.#pace.rest();
    this.child.stdin.write('{"interrupt": true}\n');
  }

  /** The kernel and everything that it started. */
  kill(): void {
    if (!this.#ended && this.child.pid !== undefined) killSession(this.child.pid);
    this.#gone();
  }

  #hear(said: Said): void {
    const cell = this.#listeners.get(said.id ?? -1);
    if (cell === undefined) return;
    if (said.stream !== undefined) cell.listener.text(said.stream);
    if (said.error !== undefined) cell.listener.text(`${said.error}\n`);
    if (said.display !== undefined) cell.listener.display(said.display);
    if (said.done === undefined) return;
    this.#listeners.delete(said.id as number);
    this.#pace.again();
    cell.end({ status: said.done, count: said.count ?? null });
  }

  #gone(): void {
    if (this.#ended) return;
    this.#ended = true;
    rmSync(this.folder, { recursive: true, force: true });
    for (const { end } of this.#listeners.values()) end({ status: 'gone', count: null });
    this.#listeners.clear();
  }
}

function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines += 1;
  return lines;
}

/** A line that is none of ours, such as one of a module that prints, is passed over. */
function read(line: string): Said | undefined {
  try {
    return Said.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
