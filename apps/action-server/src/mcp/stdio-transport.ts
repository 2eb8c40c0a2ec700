import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { beginningOf, endOf } from '@slipway/contracts/actions';
import { killMarked, killSession } from '../process/kill.js';
import { signalGroup } from '../process/process-table.js';
import { MARK, type ServerSpec } from './server-spec.js';

/** Largest message of a server. Bytes. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** What a server may say in a second before it has to wait. Bytes: this process has other work. */
const BYTES_A_SECOND = 64 * 1024 * 1024;
/** Lines in a row that are no message: programs print a banner, but not this much. */
const MAX_STRANGE_LINES = 2_000;
/** From the end of its input to the end of the server. Milliseconds. */
const END_MS = 300;
const STDERR_KEPT = 2_000;
/**
 * A server that takes no more says why when it has ended, which is a moment later, and
 * seconds on a machine that is full. Milliseconds.
 */
const LAST_WORD_MS = 5_000;

/**
 * A server that is a program: a JSON message a line. It is a session of its own, which ends with the connection,
 * whatever it started.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** Why it ended, once it has. */
  failure: Error | null = null;
  #child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  #parts: Buffer[] = [];
  #length = 0;
  #strange = 0;
  #stderr = '';
  #closed = false;
  #second = { at: 0, bytes: 0 };

  constructor(private readonly spec: Extract<ServerSpec, { kind: 'stdio' }>) {}

  async start(): Promise<void> {
    if (this.#closed) throw new Error('it was closed');
    const { command, args, env, cwd } = this.spec;
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`there is no directory ${cwd}`);
    const child = spawn(command, [...args], { cwd, env: { ...env }, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child = child;
    child.stdin.on('error', () => {});
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = endOf(this.#stderr + chunk.toString(), STDERR_KEPT);
    });
    child.stdout.on('data', (chunk: Buffer) => this.#read(child.stdout, chunk));
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    child.once('exit', (code, signal) => {
      const over = (): void => {
        const last = beginningOf(this.#stderr.trim().split('\n').at(-1) ?? '', 300);
        this.#end(new Error(`it ended with ${signal ?? `exit code ${code}`}${last === '' ? '' : `: ${last}`}`));
      };
      // What it said last may not have been read yet; what it has started may keep its streams open.
      child.once('close', over);
      setTimeout(over, END_MS).unref();
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.#closed) return Promise.reject(this.failure ?? new Error('it has ended'));
    return new Promise((resolve, reject) =>
      child.stdin.write(`${JSON.stringify(message)}\n`, (error) => {
        if (error == null) return resolve();
        const done = (): void => reject(this.failure ?? error);
        if (this.failure !== null) return done();
        child.once('close', () => setImmediate(done));
        setTimeout(done, LAST_WORD_MS).unref();
      }),
    );
  }

  close(): Promise<void> {
    this.#end(this.failure);
    return Promise.resolve();
  }

  #read(stdout: Readable, chunk: Buffer): void {
    this.#slowDown(stdout, chunk.length);
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1 && !this.#closed; at = chunk.indexOf(10, from)) {
      this.#parts.push(chunk.subarray(from, at));
      const line = Buffer.concat(this.#parts).toString();
      [this.#parts, this.#length, from] = [[], 0, at + 1];
      this.#hear(line);
    }
    if (this.#closed) return;
    this.#length += chunk.length - from;
    this.#parts.push(chunk.subarray(from));
    if (this.#length > MAX_MESSAGE_BYTES)
      this.#end(new Error(`it sent a message of more than ${MAX_MESSAGE_BYTES / 1024 / 1024} MiB`));
  }

  #hear(line: string): void {
    if (line.trim() === '') return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      message = null;
    }
    if ((message as { jsonrpc?: unknown } | null)?.jsonrpc !== '2.0') {
      this.#strange += 1;
      if (this.#strange > MAX_STRANGE_LINES)
        this.#end(new Error('it prints lines that are no messages of the protocol'));
      return;
    }
    this.#strange = 0;
    try {
      this.onmessage?.(message as JSONRPCMessage);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }

  #slowDown(stdout: Readable, bytes: number): void {
    const now = performance.now();
    if (now - this.#second.at > 1_000) this.#second = { at: now, bytes: 0 };
    this.#second.bytes += bytes;
    if (this.#second.bytes < BYTES_A_SECOND) return;
    stdout.pause();
    setTimeout(() => stdout.resume(), 1_000).unref();
  }

  #end(failure: Error | null): void {
    if (this.#closed) return;
    this.#closed = true;
    this.failure = failure;
    this.#parts = [];
    const child = this.#child;
    const group = child?.pid;
    if (child !== undefined && group !== undefined) {
      child.stdout.removeAllListeners('data').resume();
      child.stdin.end();
      const ended = child.exitCode !== null || child.signalCode !== null;
      if (!ended) signalGroup(group, 'SIGTERM');
      setTimeout(
        () => {
          killSession(group);
          killMarked(`${MARK}=${this.spec.env[MARK]}`);
          child.stdout.destroy();
          child.stderr.destroy();
        },
        ended ? 0 : END_MS,
      );
    }
    this.onclose?.();
  }
}
