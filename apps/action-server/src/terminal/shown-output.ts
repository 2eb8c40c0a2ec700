/** An escape sequence that has not ended after this much is dropped. UTF-16 code units. */
const MAX_SEQUENCE = 4_096;

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: control characters are what this file is about
const SEQUENCE =
  /\x1b\[([0-?]*)[ -/]*([@-~])|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]/g;
const UNFINISHED = /\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)?$/;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: up to here

/**
 * What a program writes to a terminal as text for a screen that has lines and colours: of escape sequences only colours
 * stay, of control characters only the ends and the starts of lines. Works on any cut of its input; holds one character
 * and one sequence.
 */
export class ShownOutput {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #unfinished = '';

  push(bytes: Uint8Array): string {
    let text = this.#unfinished + this.#decoder.decode(bytes, { stream: true });
    this.#unfinished = '';
    const cut = UNFINISHED.exec(text);
    if (cut !== null) {
      if (text.length - cut.index <= MAX_SEQUENCE) this.#unfinished = text.slice(cut.index);
      text = text.slice(0, cut.index);
    }
    return text.replace(SEQUENCE, (sequence, _parameters, final) => (final === 'm' ? sequence : ''));
  }
}
