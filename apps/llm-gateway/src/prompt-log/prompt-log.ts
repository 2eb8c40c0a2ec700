import { appendFile, mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '@slipway/domain';
import type { Logger } from '@slipway/telemetry';
import { maskSecrets } from './mask-secrets.js';

/** Of a request and of its answer, this much is kept. Bytes. */
export const MAX_LOGGED = 256 * 1024;
/** Calls that wait to be written; further ones are left out, and that is said. */
const MAX_WAITING = 200;
const DAY_MS = 86_400_000;

export interface LoggedCall {
  readonly orgId: string;
  readonly conversationId: string;
  readonly requestId: string;
  readonly model: string;
  readonly outcome: string;
  readonly asked: Buffer;
  readonly answered: Buffer;
}

export interface PromptLogOptions {
  /** A file a day in a folder an organization. */
  readonly directory: string;
  /** Organizations that want it; `*` is all of them. */
  readonly orgs: ReadonlySet<string>;
  readonly days: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * What was asked and answered, with what looks like a secret masked, for organizations that want it: a line of JSON a call. Written beside the calls, one after the
 * other; what cannot be written is left out and said in the log, and no call fails for it.
 */
export class PromptLog {
  private readonly waiting: LoggedCall[] = [];
  private writing: Promise<void> | null = null;
  private leftOut = 0;
  private swept = '';

  constructor(private readonly options: PromptLogOptions) {}

  wants(orgId: string): boolean {
    return this.options.orgs.has(orgId) || this.options.orgs.has('*');
  }

  add(call: LoggedCall): void {
    if (this.waiting.length >= MAX_WAITING) {
      this.leftOut += 1;
      return;
    }
    this.waiting.push(call);
    this.writing ??= this.write().finally(() => {
      this.writing = null;
    });
  }

  /** After the last call. */
  async close(): Promise<void> {
    await this.writing;
  }

  private async write(): Promise<void> {
    for (let call = this.waiting.shift(); call !== undefined; call = this.waiting.shift()) {
      try {
        const at = this.options.clock.now().toISOString();
        // An organization's id is ours, but a path is a path.
        const folder = path.join(this.options.directory, call.orgId.replace(/[^A-Za-z0-9_-]/g, '_'));
        await this.sweep(at.slice(0, 10));
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const text = (bytes: Buffer): string => maskSecrets(bytes.toString('utf8', 0, MAX_LOGGED));
        const { conversationId, requestId, model, outcome } = call;
        const line = { at, conversation_id: conversationId, request_id: requestId, model, outcome, asked: text(call.asked), answered: text(call.answered) };
        await appendFile(path.join(folder, `${at.slice(0, 10)}.jsonl`), `${JSON.stringify(line)}\n`, { mode: 0o600 });
      } catch (err) {
        this.leftOut += 1;
        this.options.logger.warn({ err, left_out: this.leftOut }, 'a call is not in the log of prompts');
      }
    }
  }

  /** Once a day: days that are too old go. */
  private async sweep(today: string): Promise<void> {
    if (this.swept === today) return;
    this.swept = today;
    const oldest = new Date(Date.parse(today) - this.options.days * DAY_MS).toISOString().slice(0, 10);
    await mkdir(this.options.directory, { recursive: true, mode: 0o700 });
    for (const org of await readdir(this.options.directory)) {
      for (const file of await readdir(path.join(this.options.directory, org))) {
        if (file.slice(0, 10) < oldest) await rm(path.join(this.options.directory, org, file));
      }
    }
  }
}
