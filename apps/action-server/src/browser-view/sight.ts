import type { BrowserState } from '@slipway/contracts/live';
import { shownAddress } from '../browser/address.js';
import type { Browser } from '../browser/browser.js';
import type { RunningBrowser } from '../browser/running-browser.js';
import type { Tab } from '../browser/tab.js';
import { PageErrors } from './page-errors.js';
import { ShownPage } from './shown-page.js';
import { TabTitles } from './tab-titles.js';
import type { Frame } from './watcher.js';

/** Longest title and address of a tab in the list. UTF-16 code units. */
const TAB_TEXT = 200;

export interface SightListener {
  /** Something other than the picture may be another. */
  changed(): void;
  /** @returns whether a viewer can take a further frame. */
  painted(): boolean;
  /** For the user with control. */
  notice(text: string): void;
}

/**
 * The page that the agent works on, as viewers see it, across navigations. Without viewers only errors are recorded.
 */
export class Sight {
  readonly errors: PageErrors;
  private running: RunningBrowser | null = null;
  private titles: TabTitles | null = null;
  private page: ShownPage | null = null;
  private newest: { frame: Frame; tab: Tab } | null = null;
  private frames = 0;
  private watched = false;
  private taken = false;
  /** Tabs of the last check. */
  private known: ReadonlySet<Tab> = new Set();
  private release: (() => void) | undefined;
  private looking = Promise.resolve();

  constructor(
    private readonly browser: Browser,
    private readonly listener: SightListener,
  ) {
    this.errors = new PageErrors(() => listener.changed(), this.address);
    browser.onChange(() => void this.look());
  }

  /** The newest picture of the page in front; it may be from the last viewer's time. */
  get frame(): Frame | null {
    return this.newest !== null && this.newest.tab === this.browser.current() ? this.newest.frame : null;
  }

  /** The page that is shown, `null` while none is. */
  get shown(): ShownPage | null {
    return this.page;
  }

  /** What there is to say of it. */
  get facts(): Omit<BrowserState, 'type' | 'holder' | 'yours'> {
    const front = this.browser.current();
    const missing = front === null ? this.browser.missing : null;
    const tabs = this.browser.running?.tabs.list() ?? [];
    return {
      phase: front !== null ? 'open' : missing === null ? 'closed' : 'lacking',
      missing,
      address: front === null ? '' : this.address(front.page.url()),
      title: front === null ? '' : (this.titles?.of(front.page) ?? ''),
      loading: this.page?.loading ?? false,
      tabs: tabs.map((tab) => ({
        id: tab.id,
        title: (this.titles?.of(tab.page) ?? '').slice(0, TAB_TEXT),
        address: this.address(tab.page.url()).slice(0, TAB_TEXT),
        shown: tab === front,
      })),
      viewport: front?.page.viewportSize() ?? { width: 0, height: 0 },
    };
  }

  /** Starts or stops viewing. @param taken a user has control, who then sees what opens. */
  watch(watched: boolean, taken: boolean): void {
    this.watched = watched;
    this.taken = taken;
    void this.look();
  }

  /** Once what is now in front is shown. */
  look(): Promise<void> {
    this.looking = this.looking.then(() => this.follow()).catch(() => undefined);
    return this.looking;
  }

  close(): void {
    this.page?.close();
    this.titles?.close();
    this.release?.();
  }

  private async follow(): Promise<void> {
    this.holdOpen(this.watched || this.taken);
    await this.followRunning(this.browser.running);
    this.showWhatOpened();
    const tab = this.watched ? this.browser.current() : null;
    if (this.page?.tab !== (tab ?? undefined)) {
      this.page?.close();
      this.page = null;
      if (tab !== null) this.page = await this.open(tab);
    }
    this.listener.changed();
  }

  private async followRunning(running: RunningBrowser | null): Promise<void> {
    if (running !== this.running) {
      this.running = running;
      this.titles?.close();
      this.titles = null;
      if (running !== null)
        for (const context of Object.values(running.chromium.contexts)) this.errors.listenTo(context);
    }
    if (running !== null && this.watched)
      this.titles ??= await TabTitles.of(running.chromium.contexts.sites, () => this.listener.changed());
  }

  private open(tab: Tab): Promise<ShownPage | null> {
    const audience = {
      nextFrameNumber: () => {
        this.frames += 1;
        return this.frames;
      },
      show: (frame: Frame) => {
        this.newest = { frame, tab };
        return this.listener.painted();
      },
      changed: () => this.listener.changed(),
      notice: (text: string) => this.listener.notice(text),
    };
    // It may be closed by now; then another one is in front, and is shown next.
    return ShownPage.open(tab, audience).catch(() => null);
  }

  /** What a user's press opens comes to the front, as it does for the agent's. */
  private showWhatOpened(): void {
    const tabs = this.browser.running?.tabs;
    const list = tabs?.list() ?? [];
    const opened = list.find((tab) => !this.known.has(tab));
    const first = this.known.size === 0;
    this.known = new Set(list);
    if (this.taken && !first && opened !== undefined && opened !== tabs?.current) tabs?.show(opened);
  }

  /** A browser with viewers is not stopped as idle. */
  private holdOpen(open: boolean): void {
    if (open) this.release ??= this.browser.hold();
    else {
      this.release?.();
      this.release = undefined;
    }
  }

  private readonly address = (url: string): string => shownAddress(url, this.browser.options.workspace);
}
