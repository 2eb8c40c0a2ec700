import type { CDPSession, Dialog } from 'playwright-core';
import type { Tab } from '../browser/tab.js';
import { PageInput } from './page-input.js';
import { Screencast } from './screencast.js';
import type { Frame } from './watcher.js';

/** Listener of a shown page. */
export interface PageAudience {
  nextFrameNumber(): number;
  /** @returns whether a viewer can take a further frame. */
  show(frame: Frame): boolean;
  /** Loading began or ended. */
  changed(): void;
  /**
   * For the user with control, in a sentence: input that was not applied, or a prompt of the page that is invisible.
   */
  notice(text: string): void;
}

/** With these a page may be on its way to another address, or not any more. */
const REQUESTS = ['request', 'requestfailed'] as const;

/** The viewed page, through a DevTools session of its own: the agent's actions use another. */
export class ShownPage {
  readonly input: PageInput;
  private readonly screencast: Screencast;
  private isLoading = false;

  private constructor(
    readonly tab: Tab,
    private readonly session: CDPSession,
    private readonly mainFrame: string,
    private readonly audience: PageAudience,
  ) {
    this.input = new PageInput(session, () => this.viewport, audience.notice);
    this.screencast = new Screencast(session, audience.nextFrameNumber, audience.show);
    tab.page.on('dialog', this.onDialog);
    tab.page.on('filechooser', this.onFileChooser);
    for (const event of REQUESTS) tab.page.on(event as 'request', audience.changed);
    session.on('Page.frameStartedLoading', ({ frameId }) => this.setLoading(frameId, true));
    session.on('Page.frameStoppedLoading', ({ frameId }) => this.setLoading(frameId, false));
  }

  /**
   * Begins to show it. A page that hangs is shown as it stands: nothing here waits for its script. @throws when it is
   * closed.
   */
  static async open(tab: Tab, audience: PageAudience): Promise<ShownPage> {
    const { page } = tab;
    const session = await page.context().newCDPSession(page);
    const { targetInfo } = await session.send('Target.getTargetInfo');
    // A page's main frame has its target's id.
    const shown = new ShownPage(tab, session, targetInfo.targetId, audience);
    for (const begun of [session.send('Page.enable'), shown.screencast.start()]) begun.catch(() => undefined);
    return shown;
  }

  get loading(): boolean {
    return this.isLoading || this.tab.isNavigating;
  }

  get viewport(): { width: number; height: number } {
    return this.tab.page.viewportSize() ?? { width: 0, height: 0 };
  }

  /** A viewer can take a frame again. */
  goOn(): void {
    this.screencast.goOn();
  }

  /** What the address leads to is on the picture, also when it leads nowhere. */
  async go(url: string): Promise<void> {
    await this.session.send('Page.navigate', { url });
  }

  async history(step: 'back' | 'forward' | 'reload'): Promise<void> {
    if (step === 'reload') return void (await this.session.send('Page.reload'));
    const { currentIndex, entries } = await this.session.send('Page.getNavigationHistory');
    const entry = entries[currentIndex + (step === 'back' ? -1 : 1)];
    if (entry === undefined)
      this.audience.notice(step === 'back' ? 'There is no page before this one.' : 'There is no page after this one.');
    else await this.session.send('Page.navigateToHistoryEntry', { entryId: entry.id });
  }

  close(): void {
    const { page } = this.tab;
    page.off('dialog', this.onDialog);
    page.off('filechooser', this.onFileChooser);
    for (const event of REQUESTS) page.off(event as 'request', this.audience.changed);
    this.input.end();
    void this.screencast
      .stop()
      .then(() => this.session.detach())
      .catch(() => undefined);
  }

  // The browser answers dialogs by itself (browser/tab.ts), and none is on the picture.
  private readonly onDialog = (dialog: Dialog): void => {
    this.audience.notice(`The page said “${dialog.message().slice(0, 300)}”, which was answered with OK.`);
  };

  private readonly onFileChooser = (): void => {
    this.audience.notice('The page asks for a file. Put it into the workspace, and let the agent give it to the page.');
  };

  private setLoading(frame: string, loading: boolean): void {
    if (frame !== this.mainFrame || loading === this.isLoading) return;
    this.isLoading = loading;
    if (!loading) this.screencast.renew();
    this.audience.changed();
  }
}
