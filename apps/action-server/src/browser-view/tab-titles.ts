import { MAX_BROWSER_TEXT } from '@slipway/contracts/live';
import type { BrowserContext, CDPSession, Page } from 'playwright-core';

/**
 * Poll interval of titles: the browser reports addresses, but not titles. Milliseconds; one short request to the
 * browser each time.
 */
const EVERY_MS = 250;

/** Titles of the pages as the browser itself knows them: no page is asked, so none can hold this up. */
export class TabTitles {
  private titles: ReadonlyMap<string, string> = new Map();
  private readonly targets = new WeakMap<Page, string>();
  private text = '';
  private readonly timer: NodeJS.Timeout;
  private asking = false;

  private constructor(
    private readonly session: CDPSession,
    private readonly changed: () => void,
  ) {
    this.timer = setInterval(() => void this.ask(), EVERY_MS).unref();
  }

  /** @param changed called when one is another. `null` when the browser is gone. */
  static async of(context: BrowserContext, changed: () => void): Promise<TabTitles | null> {
    const session = await context.browser()?.newBrowserCDPSession();
    if (session === undefined) return null;
    const titles = new TabTitles(session, changed);
    await titles.ask();
    return titles;
  }

  /** Empty until the browser has reported it. */
  of(page: Page): string {
    const target = this.targets.get(page);
    if (target !== undefined) return this.titles.get(target) ?? '';
    void this.learn(page);
    return '';
  }

  close(): void {
    clearInterval(this.timer);
    void this.session.detach().catch(() => undefined);
  }

  private async ask(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    try {
      const { targetInfos } = await this.session.send('Target.getTargets', { filter: [{ type: 'page' }] });
      this.titles = new Map(targetInfos.map(({ targetId, title }) => [targetId, title.slice(0, MAX_BROWSER_TEXT)]));
      const text = JSON.stringify([...this.titles]);
      if (text === this.text) return;
      this.text = text;
      this.changed();
    } catch {
      // The browser is gone.
    } finally {
      this.asking = false;
    }
  }

  private async learn(page: Page): Promise<void> {
    // Not asked twice while the answer is on its way.
    this.targets.set(page, '');
    try {
      const session = await page.context().newCDPSession(page);
      const { targetInfo } = await session.send('Target.getTargetInfo');
      await session.detach();
      this.targets.set(page, targetInfo.targetId);
      this.changed();
    } catch {
      // It is closed.
    }
  }
}
