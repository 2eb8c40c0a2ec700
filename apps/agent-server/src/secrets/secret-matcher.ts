/** Shortest text that can be searched, and the piece of it that finds it. UTF-16 code units. */
const HEAD = 4;

interface Hidden {
  readonly text: string;
  readonly shown: string;
}

/**
 * How a text goes on behind its end. `end`: it is whole. `more`: the next piece follows. `cut`: what followed was cut
 * out, and a part of a known text that is left before the cut is replaced as the whole is.
 */
export type Continuation = 'end' | 'more' | 'cut';

/**
 * Finds many texts in one pass: the head of each is in a table that rejects nearly every position of a text with one
 * lookup. Of those that begin at one place the longest counts, and the search goes on behind it.
 */
export class SecretMatcher {
  private readonly heads = new Uint8Array(65_536);
  private readonly byHead = new Map<string, Hidden[]>();
  /** What a text may end with that is less than a head. */
  private readonly beginnings = new Set<string>();
  /** As `heads`, `byHead` and `beginnings`, from the other end. */
  private readonly tails = new Uint8Array(65_536);
  private readonly byTail = new Map<string, Hidden[]>();
  private readonly endings = new Set<string>();
  private readonly known = new Set<string>();

  get empty(): boolean {
    return this.known.size === 0;
  }

  /** A shorter text than `HEAD`, and one that is known, is passed over. */
  add(text: string, shown: string): void {
    if (text.length < HEAD || this.known.has(text)) return;
    this.known.add(text);
    this.heads[headAt(text, 0)] = 1;
    for (let length = 1; length < HEAD; length += 1) this.beginnings.add(text.slice(0, length));
    const head = text.slice(0, HEAD);
    const same = [...(this.byHead.get(head) ?? []), { text, shown }];
    this.byHead.set(
      head,
      same.sort((a, b) => b.text.length - a.text.length),
    );
    this.tails[headAt(text, text.length - HEAD)] = 1;
    for (let length = 1; length < HEAD; length += 1) this.endings.add(text.slice(-length));
    const tail = text.slice(-HEAD);
    this.byTail.set(tail, [...(this.byTail.get(tail) ?? []), { text, shown }]);
  }

  /**
   * Takes off what a cut before the text has left of a known text: the longest beginning with which one ends. A known
   * text that stands there whole stays.
   * @param short whether a part of less than `HEAD` is taken out too.
   */
  replaceRemainder(text: string, short: boolean): { shown: string; rest: string } {
    if (this.at(text, 0, 'end') !== null) return { shown: '', rest: text };
    for (let at = text.length - HEAD; at >= 0; at -= 1) {
      if (this.tails[headAt(text, at)] === 0) continue;
      const part = text.slice(0, at + HEAD);
      const hidden = this.byTail.get(part.slice(at))?.find((each) => each.text.endsWith(part));
      if (hidden !== undefined) return { shown: hidden.shown, rest: text.slice(part.length) };
    }
    if (short)
      for (let length = Math.min(HEAD - 1, text.length); length > 0; length -= 1)
        if (this.endings.has(text.slice(0, length))) return { shown: '', rest: text.slice(length) };
    return { shown: '', rest: text };
  }

  /**
   * With `more`, what could be the beginning of a known text is held back, and is to be put before what follows.
   * @param short with `cut`: whether a part of less than `HEAD` is taken out too.
   */
  replace(text: string, then: Continuation, short = false): { shown: string; held: string } {
    const { heads } = this;
    const last = text.length - HEAD;
    let shown = '';
    let from = 0;
    let at = 0;
    for (; at <= last; at += 1) {
      if (heads[headAt(text, at)] === 0) continue;
      const found = this.at(text, at, then);
      if (found === null) continue;
      if (found === 'unsure') return { shown: shown + text.slice(from, at), held: text.slice(at) };
      shown += text.slice(from, at) + found.shown;
      from = Math.min(text.length, at + found.text.length);
      at = from - 1;
    }
    if (then === 'more' || (then === 'cut' && short)) {
      for (at = Math.max(at, from); at < text.length; at += 1) {
        if (this.beginnings.has(text.slice(at)))
          return { shown: shown + text.slice(from, at), held: then === 'more' ? text.slice(at) : '' };
      }
    }
    return { shown: from === 0 ? text : shown + text.slice(from), held: '' };
  }

  private at(text: string, at: number, then: Continuation): Hidden | 'unsure' | null {
    const rest = text.length - at;
    for (const hidden of this.byHead.get(text.slice(at, at + HEAD)) ?? []) {
      if (hidden.text.length <= rest) {
        if (text.startsWith(hidden.text, at)) return hidden;
      } else if (then !== 'end' && hidden.text.startsWith(text.slice(at))) return then === 'more' ? 'unsure' : hidden;
    }
    return null;
  }
}

function headAt(text: string, at: number): number {
  const low = text.charCodeAt(at) ^ (text.charCodeAt(at + 1) << 5);
  return (low ^ (text.charCodeAt(at + 2) << 9) ^ (text.charCodeAt(at + 3) << 12)) & 0xffff;
}
