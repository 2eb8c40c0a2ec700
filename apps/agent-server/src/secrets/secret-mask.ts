import { Transform } from 'node:stream';
import { CUT_MARK } from '@slipway/contracts/actions';
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
 * leaves for the log, a socket or the app. A secret stays masked for the lifetime of the process. What a cut has left
 * of one is replaced too, where the cut says so (`CUT_MARK`).
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
    return this.replace(text, 'end').shown;
  }

  /** `text` as far as it can be shown while more follows, and what has to wait for that. */
  piece(text: string): { shown: string; held: string } {
    return this.replace(text, 'more');
  }

  /** As `piece`, of bytes, one character each (latin1). */
  bytePiece(text: string): { shown: string; held: string } {
    return this.bytes.replace(text, 'more');
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
        const { shown, held: rest } = this.bytes.replace(held + chunk.toString('latin1'), 'more');
        held = rest;
        done(null, Buffer.from(shown, 'latin1'));
      },
      flush: (done) => done(null, Buffer.from(this.bytes.replace(held, 'end').shown, 'latin1')),
    });
  }

  private replace(text: string, then: 'end' | 'more'): { shown: string; held: string } {
    if (this.texts.empty) return { shown: text, held: '' };
    let shown = '';
    let from = 0;
    /** The mark before `from`. */
    let before: string | null = null;
    const segment = (to: number, mark: string | null): { shown: string; held: string } => {
      const remainder =
        before === null
          ? { shown: '', rest: text.slice(from, to) }
          : this.texts.replaceRemainder(text.slice(from, to), before !== '…');
      const masked = this.texts.replace(remainder.rest, mark === null ? then : 'cut', mark !== '…');
      return { shown: remainder.shown + masked.shown, held: masked.held };
    };
    for (const found of text.matchAll(CUT_MARK)) {
      const [mark] = found;
      shown += segment(found.index, mark).shown + mark;
      from = found.index + mark.length;
      before = mark;
    }
    const last = segment(text.length, null);
    return { shown: shown + last.shown, held: last.held };
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
