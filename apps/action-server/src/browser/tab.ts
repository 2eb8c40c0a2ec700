import type { CDPSession, ConsoleMessage, Dialog, Download, Page, Request } from 'playwright-core';
import type { Place } from './chromium.js';
import type { Notes } from './notes.js';
import { line } from './page-text.js';

/** Most dialogs of a page between two answers; a page with more is closed. */
const MAX_DIALOGS = 20;
/** A page that goes on to so many others within so many milliseconds is closed. */
const MAX_MOVES = 12;
const MOVES_MS = 10_000;
/**
 * From a page's attempt to navigate, or to open a window, to the request or the window. Milliseconds; an attempt such
 * as `mailto:` comes to nothing.
 */
const NAVIGATION_MS = 2_000;
/** Errors of a page's scripts that are kept, the last ones. */
const MAX_ERRORS = 10;
/** Longest of them. UTF-16 code units. */
const ERROR_LENGTH = 300;

export interface TabListener {
  readonly notes: Notes;
  download(download: Download): void;
  /** The page is to go: it crashed, or does nothing but get in the way. */
  unusable(tab: Tab, why: string): void;
  /** A change of address, title or anything else visible. */
  changed(): void;
}

/** One page of the browser. Dialogs are answered at once, since they block the page; a file chooser is reported. */
export class Tab {
  #dialogs = 0;
  #errors: string[] = [];
  #moreErrors = 0;
  #navigations = 0;
  /** Requests for a next page that no server has answered. */
  readonly #unanswered = new Set<Request>();
  /** Of the last addresses that it went to. `performance.now()`. */
  #moves: number[] = [];
  #session: Promise<CDPSession> | undefined;
  /** Until when a navigation that it asked for may still begin. `performance.now()`. */
  #leavesBy = 0;
  #opensBy = 0;

  constructor(
    /** Four characters. */
    readonly id: string,
    readonly page: Page,
    readonly place: Place,
    /** How long a page may leave a question of ours unanswered. Milliseconds. */
    readonly patienceMs: number,
    private readonly listener: TabListener,
  ) {
    page.on('dialog', (dialog) => void this.#answer(dialog));
    page.on('console', (message) => this.#complain(message));
    page.on('pageerror', (error) => this.#error(error instanceof Error ? error.message : String(error)));
    page.on('crash', () => listener.unusable(this, 'its page crashed'));
    page.on('download', (download) => listener.download(download));
    page.on('filechooser', () =>
      listener.notes.add('The page asked for a file: type the path of one in the workspace into its file field.'),
    );
    page.on('request', (request) => this.#begins(request));
    page.on('framenavigated', (frame) => {
      if (frame !== page.mainFrame()) return;
      this.#navigations = 0;
      this.#unanswered.clear();
      this.#leavesBy = 0;
      this.#moved();
      listener.changed();
    });
    page.on('response', (response) => void this.#unanswered.delete(response.request()));
    page.on('requestfailed', (request) => {
      this.#unanswered.delete(request);
      if (this.#isNavigation(request)) this.#navigations = 0;
    });
    page.on('load', () => listener.changed());
    page.on('popup', () => {
      this.#opensBy = 0;
    });
    void this.#watchNavigations().catch(() => {});
  }

  /**
   * Chrome's own protocol with this page. One for all that this process asks; whoever needs events of their own makes
   * another from `page.context()`.
   */
  session(): Promise<CDPSession> {
    this.#session ??= this.page.context().newCDPSession(this.page);
    return this.#session;
  }

  /** The page is on its way to another address, or about to open a window. */
  get isNavigating(): boolean {
    const now = performance.now();
    return this.#navigations > 0 || now < this.#leavesBy || now < this.#opensBy;
  }

  /**
   * The page is to be another one, whose server has not answered. Until then Chromium keeps what it is asked of the
   * page to itself: that is no page that hangs.
   */
  get awaitsServer(): boolean {
    return this.#unanswered.size > 0;
  }

  /** A new action begins: the page may ask again. */
  forgive(): void {
    this.#dialogs = 0;
    this.#navigations = 0;
    this.#leavesBy = 0;
    this.#opensBy = 0;
    this.#moves = [];
  }

  /** Errors since the last call. */
  takeErrors(): string[] {
    const errors = this.#moreErrors > 0 ? [`(${this.#moreErrors} earlier ones)`, ...this.#errors] : this.#errors;
    this.#errors = [];
    this.#moreErrors = 0;
    return errors;
  }

  async #answer(dialog: Dialog): Promise<void> {
    this.#dialogs += 1;
    if (this.#dialogs > MAX_DIALOGS) {
      this.listener.unusable(this, 'its page shows one dialog after the other');
      return;
    }
    const kind = dialog.type();
    const said = line(dialog.message(), 200);
    if (kind !== 'beforeunload')
      this.listener.notes.add(
        `The page showed ${kind === 'alert' ? 'an alert' : `a ${kind}`}, which was answered with OK: ${JSON.stringify(said)}`,
      );
    await (kind === 'prompt' ? dialog.accept(dialog.defaultValue()) : dialog.accept()).catch(() => {});
  }

  #moved(): void {
    this.#moves = [...this.#moves.slice(1 - MAX_MOVES), performance.now()];
    if (this.#moves.length < MAX_MOVES || performance.now() - (this.#moves[0] ?? 0) > MOVES_MS) return;
    this.listener.unusable(this, 'its page goes on to another page without an end');
  }

  #complain(message: ConsoleMessage): void {
    if (message.type() === 'error') this.#error(message.text());
  }

  #error(text: string): void {
    this.#errors.push(line(text, ERROR_LENGTH));
    if (this.#errors.length <= MAX_ERRORS) return;
    this.#errors.shift();
    this.#moreErrors += 1;
  }

  #begins(request: Request): void {
    if (!this.#isNavigation(request)) return;
    this.#navigations += 1;
    this.#unanswered.add(request);
    this.#leavesBy = 0;
  }

  /** What a click has begun is known before the click is answered; its request is not. */
  async #watchNavigations(): Promise<void> {
    const session = await this.session();
    const { targetInfo } = await session.send('Target.getTargetInfo');
    session.on('Page.windowOpen', () => {
      this.#opensBy = performance.now() + NAVIGATION_MS;
    });
    session.on('Page.frameRequestedNavigation', ({ frameId, disposition, url }) => {
      if (!/^https?:/.test(url)) return;
      // The main frame has the id of its page.
      if (disposition === 'currentTab' && frameId === targetInfo.targetId)
        this.#leavesBy = performance.now() + NAVIGATION_MS;
      else if (disposition === 'newTab' || disposition === 'newWindow')
        this.#opensBy = performance.now() + NAVIGATION_MS;
    });
    await session.send('Page.enable');
  }

  #isNavigation(request: Request): boolean {
    try {
      return request.isNavigationRequest() && request.frame() === this.page.mainFrame();
    } catch {
      // Of a page that is only just beginning.
      return false;
    }
  }
}
