/** How text stands in a body: as it is, with escapes of JSON, or with those of a form. */
export type TextForm = 'plain' | 'json' | 'form';

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const PLUS = 0x2b;
const SPACE = 0x20;
const U = 0x75;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

const VALUES = new Uint8Array(256).map((_, byte) => Number.parseInt(String.fromCharCode(byte), 16) || 0);
const SIMPLE = new Uint8Array(256).map((_, byte) => ESCAPES[String.fromCharCode(byte)]?.charCodeAt(0) ?? byte);

/** By the content type; JSON that says nothing of itself begins with a bracket. */
export function formOf(type: string, first: number | undefined): TextForm {
  if (type === 'application/x-www-form-urlencoded') return first === 0x7b || first === 0x5b ? 'json' : 'form';
  return /[/+]json$|ndjson|jsonl/.test(type) || first === 0x7b || first === 0x5b ? 'json' : 'plain';
}

/** Puts what escapes stand for in their place, in a stream. One that is cut between chunks is kept for the next. */
export class Unescaping {
  /** Bytes of an escape that has begun. */
  private seen: number[] = [];

  constructor(private readonly form: TextForm) {}

  push(chunk: Buffer): Buffer {
    if (this.form === 'plain') return chunk;
    const begin = this.form === 'json' ? BACKSLASH : PERCENT;
    if (this.seen.length === 0 && !chunk.includes(begin) && (this.form === 'json' || !chunk.includes(PLUS)))
      return chunk;
    // An escape is longer than what it stands for.
    const text = Buffer.allocUnsafe(chunk.length + this.seen.length);
    let length = 0;
    for (const byte of chunk) {
      if (this.seen.length > 0) {
        this.seen.push(byte);
        const meant = this.form === 'json' ? this.ofJson() : this.ofForm();
        if (meant === null) continue;
        this.seen = [];
        if (meant < 0x80) text[length++] = meant;
        else length += text.write(String.fromCharCode(meant), length);
      } else if (byte === begin) this.seen.push(byte);
      else text[length++] = byte === PLUS && this.form === 'form' ? SPACE : byte;
    }
    return text.subarray(0, length);
  }

  /** @returns `null` until it is whole. */
  private ofJson(): number | null {
    const [, kind = 0, a = 0, b = 0, c = 0, d = 0] = this.seen;
    if (kind !== U) return SIMPLE[kind] as number;
    return this.seen.length < 6 ? null : hex(a, b) * 256 + hex(c, d);
  }

  private ofForm(): number | null {
    const [, a = 0, b = 0] = this.seen;
    return this.seen.length < 3 ? null : hex(a, b) % 128;
  }
}

const hex = (high: number, low: number): number => (VALUES[high] as number) * 16 + (VALUES[low] as number);
