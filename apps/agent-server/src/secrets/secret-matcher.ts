/** Shortest text that can be searched, and the piece of it that finds it. UTF-16 code units. */
const HEAD = 4;

interface Hidden {
  readonly text: string;
  readonly shown: string;
}

/**
 * Finds many texts in one pass: the head of each is in a table that rejects nearly every position of a text with one
 * lookup. Of those that begin at one place the longest counts, and the search goes on behind it.
 */
export class SecretMatcher {
  private readonly heads = new Uint8Array(65_536);
  private readonly byHead = new Map<string, Hidden[]>();
  /** What a text may end with that is less than a head. */
  private readonly beginnings = new Set<string>();
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
  }

  /**
   * @param more whether text follows: what could be the beginning of a known text is then held back, and is to be put
   * before what follows.
   */
  replace(text: string, more: boolean): { shown: string; held: string } {
    const { heads } = this;
    const last = text.length - HEAD;
    let shown = '';
    let from = 0;
    let at = 0;
    for (; at <= last; at += 1) {
      if (heads[headAt(text, at)] === 0) continue;
      const found = this.at(text, at, more);
      if (found === null) continue;
      if (found === 'unsure') return { shown: shown + text.slice(from, at), held: text.slice(at) };
      shown += text.slice(from, at) + found.shown;
      from = at + found.text.length;
      at = from - 1;
    }
    if (more) {
      for (at = Math.max(at, from); at < text.length; at += 1) {
        if (this.beginnings.has(text.slice(at))) return { shown: shown + text.slice(from, at), held: text.slice(at) };
      }
    }
    return { shown: from === 0 ? text : shown + text.slice(from), held: '' };
  }

  private at(text: string, at: number, more: boolean): Hidden | 'unsure' | null {
    const rest = text.length - at;
    for (const hidden of this.byHead.get(text.slice(at, at + HEAD)) ?? []) {
      if (hidden.text.length <= rest) {
        if (text.startsWith(hidden.text, at)) return hidden;
      } else if (more && hidden.text.startsWith(text.slice(at))) return 'unsure';
    }
    return null;
  }
}

function headAt(text: string, at: number): number {
  const low = text.charCodeAt(at) ^ (text.charCodeAt(at + 1) << 5);
  return (low ^ (text.charCodeAt(at + 2) << 9) ^ (text.charCodeAt(at + 3) << 12)) & 0xffff;
}
