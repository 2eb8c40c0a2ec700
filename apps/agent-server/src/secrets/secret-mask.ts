import { Transform } from 'node:stream';
import { type ConversationEvent, MIN_MASKED_LENGTH } from '@slipway/contracts/events';
import { formsOf } from './secret-forms.js';
import { SecretMatcher } from './secret-matcher.js';

/** Stands for what has no name: keys and tokens of the platform itself. */
export const HIDDEN = '<secret-hidden>';
/** Fields of an event that are structure, not text. */
const STRUCTURE = new Set([
  'id',
  'kind',
  'timestamp',
  'source',
  'parent_id',
  'action_id',
  'tool_call_id',
  'llm_response_id',
  'key',
  'type',
  'role',
]);

/**
 * Replaces a known secret by `<secret:NAME>`, in any form that programs print, before an event or a piece of text
 * leaves for the log, a socket or the app. A secret stays masked for the lifetime of the process.
 */
export class SecretMask {
  private readonly texts = new SecretMatcher();
  /** The same over bytes, one character each. */
  private readonly bytes = new SecretMatcher();

  add(values: Iterable<string>): void {
    for (const value of values) this.hide(value, HIDDEN);
  }

  addNamed(secrets: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(secrets)) {
      const shown = `<secret:${name}>`;
      this.hide(value, shown.includes(value) ? HIDDEN : shown);
    }
  }

  text(text: string): string {
    return this.texts.replace(text, false).shown;
  }

  /** `text` as far as it can be shown while more follows, and what has to wait for that. */
  piece(text: string): { shown: string; held: string } {
    return this.texts.replace(text, true);
  }

  /** As `piece`, of bytes, one character each (latin1). */
  bytePiece(text: string): { shown: string; held: string } {
    return this.bytes.replace(text, true);
  }

  /** The same object when nothing had to be hidden. */
  event(event: ConversationEvent): ConversationEvent {
    return this.texts.empty ? event : (this.value(event) as ConversationEvent);
  }

  /** Hides secrets in a stream of any bytes, wherever it is cut. */
  stream(): Transform {
    let held = '';
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        const { shown, held: rest } = this.bytes.replace(held + chunk.toString('latin1'), true);
        held = rest;
        done(null, Buffer.from(shown, 'latin1'));
      },
      flush: (done) => done(null, Buffer.from(this.bytes.replace(held, false).shown, 'latin1')),
    });
  }

  private hide(value: string, shown: string): void {
    if (value.length < MIN_MASKED_LENGTH) return;
    for (const form of formsOf(value)) {
      this.texts.add(form, shown);
      this.bytes.add(Buffer.from(form, 'utf8').toString('latin1'), shown);
    }
  }

  private value(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) {
      const items = value.map((item) => this.value(item));
      return items.every((item, index) => item === value[index]) ? value : items;
    }
    if (typeof value !== 'object' || value === null) return value;
    let changed = false;
    const copy: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      const name = this.text(key);
      const masked = STRUCTURE.has(key) && typeof item === 'string' ? item : this.value(item);
      copy[name] = masked;
      if (masked !== item || name !== key) changed = true;
    }
    return changed ? copy : value;
  }
}
