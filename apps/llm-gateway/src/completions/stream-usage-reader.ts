import { type Usage, usageOf } from './usage.js';

/** Longest line that is looked into. Bytes; a longer one is skipped to its end. Nothing is held beyond it. */
const MAX_LINE = 1024 * 1024;
const LINE_FEED = 0x0a;

/** Reads what passes by in an event stream, beside it: the bytes themselves are never touched, and nothing here can fail the call. */
export class StreamUsageReader {
  /** As the provider counted it last; `null` until it has. */
  usage: Usage | null = null;
  /** Text, reasoning and arguments that have passed. UTF-16 code units. */
  characters = 0;
  /** Chunks that are completions. */
  chunks = 0;
  /** The stream said that it is whole: `[DONE]` or a finish reason. */
  complete = false;
  /** The provider sent an error where a chunk should be. */
  error: { readonly message?: unknown; readonly code?: unknown; readonly type?: unknown } | null = null;

  private rest: Buffer[] = [];
  private restLength = 0;
  private skipping = false;

  push(bytes: Buffer): void {
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      if (this.skipping) this.skipping = false;
      else if (this.restLength === 0) this.line(bytes.subarray(start, end));
      else {
        this.rest.push(bytes.subarray(start, end));
        this.line(Buffer.concat(this.rest));
      }
      this.rest = [];
      this.restLength = 0;
      start = end + 1;
    }
    if (start >= bytes.length || this.skipping) return;
    this.rest.push(bytes.subarray(start));
    this.restLength += bytes.length - start;
    if (this.restLength <= MAX_LINE) return;
    this.skipping = true;
    this.rest = [];
    this.restLength = 0;
  }

  private line(bytes: Buffer): void {
    // "data:" and little more than a brace
    if (bytes.length < 7 || bytes[0] !== 0x64 || bytes[4] !== 0x3a) return;
    const text = bytes.toString('utf8', 5).trim();
    if (text === '[DONE]') {
      this.complete = true;
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    const chunk = value as { choices?: unknown; usage?: unknown; error?: unknown };
    if (typeof chunk.error === 'object' && chunk.error !== null) this.error = chunk.error;
    this.usage = usageOf(chunk.usage) ?? this.usage;
    if (!Array.isArray(chunk.choices)) return;
    this.chunks += 1;
    for (const choice of chunk.choices) this.choice(choice);
  }

  private choice(choice: unknown): void {
    if (typeof choice !== 'object' || choice === null) return;
    const { delta, finish_reason: finishReason } = choice as { delta?: unknown; finish_reason?: unknown };
    if (typeof finishReason === 'string') this.complete = true;
    if (typeof delta !== 'object' || delta === null) return;
    const { content, reasoning_content: reasoning, tool_calls: calls } = delta as { content?: unknown; reasoning_content?: unknown; tool_calls?: unknown };
    if (typeof content === 'string') this.characters += content.length;
    if (typeof reasoning === 'string') this.characters += reasoning.length;
    if (!Array.isArray(calls)) return;
    for (const call of calls) {
      const written = (call as { function?: { arguments?: unknown } } | null)?.function?.arguments;
      if (typeof written === 'string') this.characters += written.length;
    }
  }
}
