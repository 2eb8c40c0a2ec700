/** What bash says of itself after a command. */
export interface EndOfCommand {
  readonly sequence: number;
  readonly exitCode: number;
  /** Of the last background job; -1 when there is none. */
  readonly backgroundPid: number;
  readonly workingDirectory: string;
  readonly searchPath: string;
}

export type Scanned =
  | { kind: 'output'; bytes: Buffer }
  | { kind: 'start'; sequence: number }
  | ({ kind: 'end' } & EndOfCommand);

/** A mark longer than this is not one. Bytes. */
const MAX_MARK = 64 * 1024;
const NOTHING = Buffer.alloc(0);

/**
 * Finds the marks that the shell writes between the output of programs. They are searched as bytes, before anything
 * reads escape sequences, and carry a random nonce: nothing that a program prints can hide or forge one. Works on any
 * cut of its input.
 */
export class MarkerScanner {
  #opening: Buffer;
  #closing: Buffer;
  #held: Buffer = NOTHING;

  constructor(nonce: string) {
    this.#opening = Buffer.from(`\x1b]7770;${nonce};`);
    this.#closing = Buffer.from(`;${nonce}\x07`);
  }

  push(chunk: Buffer): Scanned[] {
    const found: Scanned[] = [];
    let rest = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    for (;;) {
      const at = rest.indexOf(this.#opening);
      const end = at < 0 ? -1 : rest.indexOf(this.#closing, at + this.#opening.length);
      if (at < 0 || (end < 0 && rest.length - at > MAX_MARK)) {
        const keep = at < 0 ? rest.length - this.#partialOpening(rest) : rest.length;
        if (keep > 0) found.push({ kind: 'output', bytes: rest.subarray(0, keep) });
        rest = rest.subarray(keep);
        break;
      }
      if (at > 0) found.push({ kind: 'output', bytes: rest.subarray(0, at) });
      if (end < 0) {
        rest = rest.subarray(at);
        break;
      }
      const mark = parseMark(rest.subarray(at + this.#opening.length, end).toString());
      if (mark !== undefined) found.push(mark);
      rest = rest.subarray(end + this.#closing.length);
    }
    this.#held = rest.length === 0 ? NOTHING : Buffer.from(rest);
    return found;
  }

  /** Length of the longest end of `bytes` that an opening begins with. */
  #partialOpening(bytes: Buffer): number {
    const from = Math.max(0, bytes.length - this.#opening.length + 1);
    // An opening has its first byte nowhere else.
    const at = bytes.lastIndexOf(this.#opening[0] as number);
    return at >= from && bytes.subarray(at).equals(this.#opening.subarray(0, bytes.length - at))
      ? bytes.length - at
      : 0;
  }
}

function parseMark(mark: string): Scanned | undefined {
  const [kind, sequence, exitCode, backgroundPid, workingDirectory = '', ...searchPath] = mark.split('\x1f');
  if (kind === 'start') return { kind, sequence: Number(sequence) };
  if (kind === 'end')
    return {
      kind,
      sequence: Number(sequence),
      exitCode: Number(exitCode),
      backgroundPid: Number(backgroundPid || -1),
      workingDirectory,
      searchPath: searchPath.join('\x1f'),
    };
  return undefined;
}
