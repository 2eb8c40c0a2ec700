/** A line without an end is given out when it is this long. UTF-16 code units. */
const MAX_LINE = 32_768;
/** An escape sequence that has not ended after this much is text. UTF-16 code units. */
const MAX_SEQUENCE = 4_096;

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: control characters are what this file is about
const PLAIN = /^[\t\n\x20-\x7e\u00a0-\uffff]*$/;
const TOKEN =
  /\x1b\[([0-?]*)[ -/]*([@-~])|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]|\n|[\t\x20-\x7e\u00a0-\uffff]+/g;
const UNFINISHED = /\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)?$/;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: up to here

/**
 * Turns what a program writes to a terminal into the text that a user would see: escape sequences removed, a line that
 * is drawn again (`\r`, backspace, erase to the end of the line) given out once, in its last form. Bytes that are not
 * UTF-8 become U+FFFD. Holds one line and one escape sequence, each bounded; works on any cut of its input.
 */
export class PlainText {
  #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #unfinished = '';
  #line = '';
  #column = 0;

  /** Text that can no longer change. */
  push(bytes: Uint8Array): string {
    let text = this.#unfinished + this.#decoder.decode(bytes, { stream: true });
    this.#unfinished = '';
    const cut = UNFINISHED.exec(text);
    if (cut !== null && text.length - cut.index <= MAX_SEQUENCE) {
      this.#unfinished = text.slice(cut.index);
      text = text.slice(0, cut.index);
    }
    return this.#take(text);
  }

  /** The remainder: the line that has not ended, as it stands. */
  flush(): string {
    const given = this.#take(this.#decoder.decode() + withoutIntroducer(this.#unfinished)) + this.#line;
    this.#unfinished = '';
    this.#line = '';
    this.#column = 0;
    return given;
  }

  #take(text: string): string {
    let given = '';
    if (this.#column === this.#line.length && PLAIN.test(text)) {
      const end = text.lastIndexOf('\n') + 1;
      if (end > 0) given = this.#line + text.slice(0, end);
      this.#line = end > 0 ? text.slice(end) : this.#line + text;
      this.#column = this.#line.length;
    } else {
      const lines: string[] = [];
      for (const token of text.matchAll(TOKEN)) this.#apply(token, lines);
      given = lines.join('');
    }
    if (this.#line.length <= MAX_LINE) return given;
    given += this.#line;
    this.#line = '';
    this.#column = 0;
    return given;
  }

  #apply(token: RegExpMatchArray, lines: string[]): void {
    const [text, parameter = '', final] = token;
    if (text === '\n') {
      lines.push(this.#line, '\n');
      this.#line = '';
      this.#column = 0;
    } else if (text === '\r') this.#column = 0;
    else if (text === '\b') this.#column = Math.max(0, this.#column - 1);
    else if (final !== undefined) this.#control(parameter, final);
    else if (isText(text)) this.#write(text);
  }

  #write(text: string): void {
    this.#line =
      this.#column === this.#line.length
        ? this.#line + text
        : this.#line.slice(0, this.#column).padEnd(this.#column) + text + this.#line.slice(this.#column + text.length);
    this.#column += text.length;
  }

  #control(parameter: string, final: string): void {
    const count = Math.min(Number.parseInt(parameter, 10) || 0, 1_000);
    if (final === 'K')
      this.#line =
        count === 0
          ? this.#line.slice(0, this.#column)
          : count === 1
            ? ' '.repeat(this.#column) + this.#line.slice(this.#column)
            : '';
    else if (final === 'G') this.#column = Math.max(0, count - 1);
    else if (final === 'C') this.#column += Math.max(1, count);
    else if (final === 'D') this.#column = Math.max(0, this.#column - Math.max(1, count));
  }
}

function isText(token: string): boolean {
  const first = token.charCodeAt(0);
  return first === 9 || (first >= 0x20 && first <= 0x7e) || first >= 0xa0;
}

/** What an unended sequence leaves on the screen: the text of a title, nothing of a colour. */
function withoutIntroducer(sequence: string): string {
  return /^.[\]PX^_]/s.test(sequence) ? sequence.slice(2) : '';
}
