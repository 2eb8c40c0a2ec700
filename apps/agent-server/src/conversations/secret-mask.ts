import type { ConversationEvent } from '@slipway/contracts';

export const HIDDEN = '<secret-hidden>';
/** A shorter value would hide half the text. UTF-16 code units. */
const MIN_SECRET_LENGTH = 4;
/** Fields of an event that are structure, not text. */
const STRUCTURE = new Set(['id', 'kind', 'timestamp', 'source', 'parent_id', 'action_id', 'tool_call_id', 'llm_response_id', 'key', 'type', 'role']);

/** Puts `<secret-hidden>` where a known secret stands, before an event or a piece of text leaves for the log, a socket or the app. */
export class SecretMask {
  private readonly values = new Set<string>();
  /** Longest first: a secret that contains another is hidden whole. */
  private sorted: readonly string[] = [];

  add(values: Iterable<string>): void {
    for (const value of values) if (value.length >= MIN_SECRET_LENGTH) this.values.add(value);
    this.sorted = [...this.values].sort((a, b) => b.length - a.length);
  }

  text(text: string): string {
    let masked = text;
    for (const secret of this.sorted) if (masked.includes(secret)) masked = masked.replaceAll(secret, HIDDEN);
    return masked;
  }

  /** The same object when nothing had to be hidden. */
  event(event: ConversationEvent): ConversationEvent {
    return this.sorted.length === 0 ? event : (this.value(event) as ConversationEvent);
  }

  /** How much of the end of `text` could be the beginning of a secret, and must wait for what follows. UTF-16 code units. */
  heldBack(text: string): number {
    let longest = 0;
    for (const secret of this.sorted) {
      for (let length = Math.min(secret.length - 1, text.length); length > longest; length -= 1) {
        if (text.endsWith(secret.slice(0, length))) longest = length;
      }
    }
    return longest;
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
      const masked = STRUCTURE.has(key) && typeof item === 'string' ? item : this.value(item);
      copy[key] = masked;
      if (masked !== item) changed = true;
    }
    return changed ? copy : value;
  }
}
