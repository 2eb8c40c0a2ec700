import { SlipwayError } from '@slipway/errors';

/**
 * Objects with more names than this are searched in a set; below, comparing bytes is cheaper than making texts of them.
 */
const FEW = 12;
/**
 * Most names of objects that are open at the same place. No API has a request that comes near; it bounds memory and,
 * with `FEW`, time.
 */
const MAX_OPEN = 20_000;
/** A number that `Int32Array` grows from. */
const FIRST_ROOM = 256;
const BACKSLASH = 0x5c;

/**
 * Names of the objects that a scan is inside of. A name that is there twice is refused: readers of JSON differ in which
 * of the two counts, so that what is checked here would not be what the provider does. Linear in the names, without a
 * text for most of them.
 */
export class OpenNames {
  /** Start and end of each name, of all open objects one after the other. */
  private spans = new Int32Array(FIRST_ROOM);
  private count = 0;
  /** Where the names of each open object begin. */
  private readonly firsts: number[] = [];
  /** Names of an object with many, or with escapes; absent for the others. */
  private sets: Map<number, Set<string>> | null = null;

  constructor(private readonly body: Buffer) {}

  open(): void {
    if (this.firsts.length >= MAX_OPEN)
      throw new SlipwayError('request.invalid', `The request is nested more than ${MAX_OPEN} objects deep.`);
    this.firsts.push(this.count);
  }

  close(): void {
    const first = this.firsts.pop();
    if (first === undefined) return;
    this.sets?.delete(this.firsts.length);
    this.count = first;
  }

  /**
   * @param start of the name's opening quote. @param end after its closing quote. @throws SlipwayError
   * `request.invalid` when the object has it already.
   */
  add(start: number, end: number): void {
    const depth = this.firsts.length - 1;
    const first = this.firsts[depth];
    if (first === undefined) return;
    if (this.count >= MAX_OPEN)
      throw new SlipwayError('request.invalid', `An object of the request has more than ${MAX_OPEN} names.`);
    const set =
      this.sets?.get(depth) ??
      (this.count - first >= FEW || this.hasEscape(start, end) ? this.toSet(depth, first) : null);
    if (set !== null) {
      const name = this.textOf(start, end);
      if (set.has(name)) throw twice(name);
      set.add(name);
    } else if (this.isThere(first, start, end)) throw twice(this.textOf(start, end));
    if (2 * this.count + 2 > this.spans.length) {
      const larger = new Int32Array(2 * this.spans.length);
      larger.set(this.spans);
      this.spans = larger;
    }
    this.spans[2 * this.count] = start;
    this.spans[2 * this.count + 1] = end;
    this.count += 1;
  }

  private isThere(first: number, start: number, end: number): boolean {
    const { body, spans } = this;
    const length = end - start;
    for (let index = first; index < this.count; index += 1) {
      const from = spans[2 * index] ?? 0;
      if ((spans[2 * index + 1] ?? 0) - from !== length) continue;
      let at = 1;
      while (at < length && body[from + at] === body[start + at]) at += 1;
      if (at === length) return true;
    }
    return false;
  }

  private toSet(depth: number, first: number): Set<string> {
    const set = new Set<string>();
    for (let index = first; index < this.count; index += 1)
      set.add(this.textOf(this.spans[2 * index] ?? 0, this.spans[2 * index + 1] ?? 0));
    this.sets ??= new Map();
    this.sets.set(depth, set);
    return set;
  }

  private hasEscape(start: number, end: number): boolean {
    for (let at = start; at < end; at += 1) if (this.body[at] === BACKSLASH) return true;
    return false;
  }

  /** What every reader takes the name for. One that is no JSON is for the provider to refuse. */
  private textOf(start: number, end: number): string {
    const text = this.body.toString('utf8', start, end);
    if (!text.includes('\\')) return text.slice(1, -1);
    try {
      return JSON.parse(text) as string;
    } catch {
      return text;
    }
  }
}

function twice(name: string): SlipwayError {
  return new SlipwayError(
    'request.invalid',
    `${name.slice(0, 80)}: it is there twice in one object; leave one of them out`,
  );
}
