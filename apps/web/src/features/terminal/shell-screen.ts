import { type LiveShell, ShellLiveMessage, type ShellLiveRequest } from '@slipway/contracts/live';
import { FitAddon } from '@xterm/addon-fit';
import { SearchAddon } from '@xterm/addon-search';
import { WebLinksAddon } from '@xterm/addon-web-links';
import { Terminal } from '@xterm/xterm';
import { bytes as bytesInWords } from '../../browser/format.ts';
import type { Translate } from '../../messages/translate.ts';
import { terminalTheme } from './terminal-theme.ts';

/** Lines above the screen that can be scrolled back to. */
const SCROLLBACK_LINES = 5_000;
/**
 * What a terminal answers by itself when a program asks it; of several that look on, only the one that somebody is at
 * may.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: an answer begins so
const OWN_ANSWER = /^\x1b(?:\[[?>=]?[\d;]*[cnRtuy$]|\]|P)/;
/** Ends an escape sequence that is under way and its colours. */
const CLEAN = '\x18\x1b[0m';

export interface ShellScreenOptions {
  readonly t: Translate;
  readonly shell: LiveShell;
  readonly element: HTMLElement;
  readonly dark: boolean;
  readonly screenReader: boolean;
  readonly send: (request: ShellLiveRequest) => void;
  readonly type: (bytes: Uint8Array<ArrayBuffer>) => void;
  readonly follow: (url: string) => void;
  /** The user wants to leave the terminal by the keyboard, or to search it. */
  readonly wants: (what: 'leave' | 'search') => void;
  /** What cannot be seen on the screen: a sentence, or `null` when it is over. */
  readonly note: (words: string | null) => void;
}

/** The screen of one shell: xterm, and what its channel says. */
export class ShellScreen {
  readonly terminal: Terminal;
  readonly #search = new SearchAddon();
  readonly #fit = new FitAddon();
  readonly #observer: ResizeObserver;
  readonly #options: ShellScreenOptions;
  /** What is on the way to the screen is from before: nothing is answered to it. */
  #replaying = true;
  #frame = 0;

  constructor(options: ShellScreenOptions) {
    const { shell, element, dark, screenReader } = options;
    this.#options = options;
    const readOnly = shell.owner === 'agent';
    this.terminal = new Terminal({
      cols: shell.cols,
      rows: shell.rows,
      fontFamily: getComputedStyle(document.documentElement).getPropertyValue('--font-mono').trim() || 'monospace',
      fontSize: 13,
      lineHeight: 1.2,
      scrollback: SCROLLBACK_LINES,
      cursorBlink: !readOnly,
      disableStdin: readOnly,
      // The agent's programs write to a terminal without line discipline.
      convertEol: readOnly,
      screenReaderMode: screenReader,
      macOptionIsMeta: true,
      // Bytes that are no text, such as those of a picture, are no error of this page.
      logLevel: 'off',
      minimumContrastRatio: 4.5,
      theme: terminalTheme(dark),
    });
    for (const addon of [this.#fit, this.#search, new WebLinksAddon((_event, url) => options.follow(url))])
      this.terminal.loadAddon(addon);
    this.terminal.attachCustomKeyEventHandler((event) => this.#key(event));
    this.terminal.onData((data) => this.#data(data));
    this.terminal.onBinary((data) => options.type(Uint8Array.from(data, (character) => character.charCodeAt(0))));
    this.terminal.open(element);
    this.terminal.textarea?.addEventListener('focus', this.fit);
    this.#observer = new ResizeObserver(() => {
      cancelAnimationFrame(this.#frame);
      this.#frame = requestAnimationFrame(this.fit);
    });
    this.#observer.observe(element);
  }

  /** One message of the channel, in its order among the bytes. */
  receive(given: unknown): void {
    const message = ShellLiveMessage.safeParse(given).data;
    if (message === undefined) return;
    const { terminal } = this;
    if (message.type === 'attached') {
      this.#replaying = true;
      terminal.reset();
      this.#options.note(null);
      if (message.cut) terminal.write(`\x1b[2m[${this.#options.t('terminal.earlierOutputDropped')}]\x1b[0m\r\n`);
      this.fit();
    } else if (message.type === 'caught-up') terminal.write('', () => (this.#replaying = false));
    else if (message.type === 'mark') terminal.write('', () => this.#options.send({ type: 'seen', at: message.at }));
    else if (message.type === 'skipped')
      terminal.write(
        `${CLEAN}\r\n\x1b[2m[${this.#options.t('terminal.outputSkipped', { size: bytesInWords(message.bytes) })}]\x1b[0m\r\n`,
      );
    else if (message.type === 'resized') terminal.resize(message.cols, message.rows);
    else if (message.type === 'not-typed')
      this.#options.note(`${message.reason} ${this.#options.t('terminal.inputDropped')}`);
    else {
      terminal.options.disableStdin = true;
      terminal.options.cursorBlink = false;
      terminal.write(
        `${CLEAN}\r\n\x1b[2m[${this.#options.t('terminal.shellEnded', { exitCode: message.exitCode ?? 0 })}]\x1b[0m\r\n`,
      );
    }
  }

  write(bytes: Uint8Array): void {
    this.terminal.write(bytes);
  }

  /** As large as the panel, for all who look on; the agent's terminal keeps its size for the agent. */
  readonly fit = (): void => {
    const size = this.#fit.proposeDimensions();
    if (size === undefined || Number.isNaN(size.cols) || size.cols < 2 || size.rows < 1) return;
    const { terminal } = this;
    const { cols, rows } = size;
    if (terminal.cols !== cols || terminal.rows !== rows) terminal.resize(cols, rows);
    if (this.#options.shell.owner === 'person') this.#options.send({ type: 'resize', cols, rows });
  };

  look(dark: boolean, screenReader: boolean): void {
    this.terminal.options.theme = terminalTheme(dark);
    this.terminal.options.screenReaderMode = screenReader;
  }

  /** @returns whether it was found. */
  find(text: string, where: 'next' | 'previous'): boolean {
    return where === 'next' ? this.#search.findNext(text) : this.#search.findPrevious(text);
  }

  endFind(): void {
    this.terminal.clearSelection();
  }

  /** Keys of the row below, for screens without a keyboard. */
  press(keys: string): void {
    this.terminal.input(keys);
    this.terminal.focus();
  }

  dispose(): void {
    cancelAnimationFrame(this.#frame);
    this.#observer.disconnect();
    this.terminal.dispose();
  }

  #data(data: string): void {
    if (OWN_ANSWER.test(data) && (this.#replaying || document.activeElement !== this.terminal.textarea)) return;
    this.#options.note(null);
    this.#options.type(new TextEncoder().encode(data));
  }

  /** What the browser or the page does instead of the shell. */
  #key(event: KeyboardEvent): boolean {
    if (event.type !== 'keydown') return true;
    const command = event.metaKey || event.ctrlKey;
    const key = event.key.toLowerCase();
    if (event.key === 'Escape' && event.shiftKey) return this.#instead(event, () => this.#options.wants('leave'));
    if (command && key === 'f' && (event.metaKey || event.shiftKey))
      return this.#instead(event, () => this.#options.wants('search'));
    // The browser's own copy and paste: xterm takes them from there.
    if (command && key === 'c' && this.terminal.hasSelection()) {
      if (event.shiftKey)
        return this.#instead(event, () => void navigator.clipboard?.writeText(this.terminal.getSelection()));
      return false;
    }
    return !(command && key === 'v');
  }

  #instead(event: KeyboardEvent, work: () => void): false {
    event.preventDefault();
    work();
    return false;
  }
}
