import { type BrowserPageError, MAX_BROWSER_ERRORS, MAX_BROWSER_TEXT } from '@slipway/contracts/live';
import type { BrowserContext } from 'playwright-core';

/** The newest errors of all pages; what is older is forgotten. */
export class PageErrors {
  private kept: BrowserPageError[] = [];
  private count = 0;

  /**
   * @param changed called after each error; a page can make thousands in a second.
   * @param shownAddress how an address is shown.
   */
  constructor(
    private readonly changed: () => void,
    private readonly shownAddress: (url: string) => string,
  ) {}

  /** Takes what this context's pages complain of from now on. */
  listenTo(context: BrowserContext): void {
    context.on('console', (message) => {
      if (message.type() === 'error') this.add('console', message.text(), message.page()?.url());
    });
    context.on('weberror', (error) =>
      this.add('exception', String(error.error()?.message ?? error.error()), error.page()?.url()),
    );
    const watchCrash = (page: ReturnType<BrowserContext['pages']>[number]): void => {
      page.on('crash', () => this.add('crash', 'The page broke down. Reload it.', page.url()));
    };
    context.pages().forEach(watchCrash);
    context.on('page', watchCrash);
  }

  /** Those with a higher number. */
  after(number: number): BrowserPageError[] {
    return this.kept.filter((error) => error.number > number);
  }

  private add(kind: BrowserPageError['kind'], text: string, url = ''): void {
    this.count += 1;
    this.kept.push({
      number: this.count,
      kind,
      text: text.slice(0, MAX_BROWSER_TEXT),
      page: this.shownAddress(url),
      at: new Date().toISOString(),
    });
    if (this.kept.length > MAX_BROWSER_ERRORS) this.kept.shift();
    this.changed();
  }
}
