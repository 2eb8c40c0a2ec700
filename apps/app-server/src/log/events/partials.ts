import { PartialText } from './partial-text.js';

/** Most text of all conversations together, about. UTF-16 code units: 32 MB. */
const MAX_LENGTH = 16 * 1024 * 1024;
/** Most conversations. */
const MAX_CONVERSATIONS = 20_000;

/**
 * What is being written in every conversation that this process hears of, with readers or not: a reader that joins in
 * the middle of an answer, or reloads the page, gets it from its beginning. The conversation that was heard of longest
 * ago is forgotten first.
 */
export class Partials {
  private readonly texts = new Map<string, PartialText>();
  private length = 0;

  constructor(private readonly maxLength = MAX_LENGTH) {}

  of(key: string): PartialText {
    const text = this.texts.get(key) ?? new PartialText();
    this.texts.delete(key);
    this.texts.set(key, text);
    if (this.texts.size > MAX_CONVERSATIONS) this.forgetOldest();
    return text;
  }

  /** Changes the text of a conversation; `keep`: it has readers, so that more than its text is needed. */
  change<T>(key: string, work: (text: PartialText) => T, keep: boolean): T {
    const text = this.of(key);
    const before = text.length;
    const result = work(text);
    this.length += text.length - before;
    if (!keep && text.length === 0) this.texts.delete(key);
    while (this.length > this.maxLength && this.texts.size > 1) this.forgetOldest();
    return result;
  }

  /** Something durable happened that this process has not read: what is being written may be over. */
  forget(key: string): void {
    this.length -= this.texts.get(key)?.length ?? 0;
    this.texts.delete(key);
  }

  private forgetOldest(): void {
    const oldest = this.texts.keys().next();
    if (oldest.done !== true) this.forget(oldest.value);
  }
}
