import { randomInt } from 'node:crypto';
import { SlipwayError } from '@slipway/errors';
import type { BrowserContext, Download, Page } from 'playwright-core';
import type { Place } from './chromium.js';
import type { Notes } from './notes.js';
import { Tab } from './tab.js';

/** Most pages at once; one that opens beyond is closed. */
export const MAX_TABS = 10;
/** Longest that the end of a page is waited for. Milliseconds. */
const CLOSE_MS = 5_000;

export interface TabsListener {
  readonly notes: Notes;
  download(download: Download): void;
  /** Which tab is in front, which there are, or where one is. */
  changed(): void;
}

/** The pages of one Chromium, of which one is in front. */
export class Tabs {
  readonly #tabs = new Map<string, Tab>();
  /** Newest last. */
  readonly #order: Tab[] = [];
  #current: Tab | null = null;
  /** Pages that we have asked for and not got yet; what arrives meanwhile may be one of them, or a page's own. */
  #asked = 0;
  #arrivals: Array<{ readonly page: Page; readonly place: Place }> = [];
  readonly #ours = new WeakSet<Page>();
  /** The tab whose first popup comes to the front: the agent pressed something in it. */
  #followed: Tab | null = null;

  constructor(
    private readonly contexts: Readonly<Record<Place, BrowserContext>>,
    private readonly patienceMs: number,
    private readonly listener: TabsListener,
  ) {
    for (const place of ['sites', 'workspace'] as const) {
      for (const page of contexts[place].pages()) this.#adopt(page, place);
      contexts[place].on('page', (page) => this.#arrived(page, place));
    }
  }

  get current(): Tab | null {
    return this.#current;
  }

  /** Where sites keep what they know of who visits them. */
  get storage(): BrowserContext {
    return this.contexts.sites;
  }

  list(): readonly Tab[] {
    return [...this.#order];
  }

  /** @throws SlipwayError `browser.element-gone`. */
  named(id: string): Tab {
    const tab = this.#tabs.get(id);
    if (tab === undefined)
      throw new SlipwayError(
        'browser.element-gone',
        `There is no tab ${JSON.stringify(id.slice(0, 40))}. The tabs are: ${[...this.#tabs.keys()].join(', ') || 'none'}.`,
      );
    return tab;
  }

  /** A new empty tab, in front. @throws SlipwayError `browser.refused` when there are too many. */
  async open(place: Place): Promise<Tab> {
    if (this.#tabs.size >= MAX_TABS)
      throw new SlipwayError('browser.refused', `There are ${MAX_TABS} tabs; close one first.`);
    const tab = this.#adopt(await this.#newPage(place), place);
    this.show(tab);
    return tab;
  }

  /**
   * The tab in front, to be sent to a page of this place. One of the other is a new page from here on, with nothing
   * that it could go back to: its name and its place stay.
   */
  async inFront(place: Place): Promise<Tab> {
    const before = this.#current;
    if (before === null) return this.open(place);
    if (before.place === place) return before;
    const page = await this.#newPage(place);
    const at = this.#order.indexOf(before);
    await this.close(before);
    const tab = this.#adopt(page, place, { id: before.id, at });
    this.show(tab);
    return tab;
  }

  /** Work in a page of sites that is no tab. */
  async hidden<T>(work: (page: Page) => Promise<T>): Promise<T> {
    const page = await this.#newPage('sites');
    try {
      return await work(page);
    } finally {
      await page.close().catch(() => {});
    }
  }

  show(tab: Tab): void {
    this.#current = tab;
    void tab.page.bringToFront().catch(() => {});
    this.listener.changed();
  }

  /** While the work goes on, the first tab that this one's page opens comes to the front. */
  async following<T>(tab: Tab, work: () => Promise<T>): Promise<T> {
    this.#followed = tab;
    try {
      return await work();
    } finally {
      this.#followed = null;
    }
  }

  /** Ends a page, also one that does not answer. The last one that was opened comes to the front. */
  async close(tab: Tab): Promise<void> {
    this.#forget(tab);
    const timer = setTimeout(() => void crash(tab), CLOSE_MS);
    await tab.page.close().catch(() => {});
    clearTimeout(timer);
  }

  /** Opens a page marked as ours, so that the popup handler ignores it. */
  async #newPage(place: Place): Promise<Page> {
    this.#asked += 1;
    try {
      const page = await this.contexts[place].newPage();
      this.#ours.add(page);
      return page;
    } finally {
      this.#asked -= 1;
      if (this.#asked === 0) for (const { page, place: where } of this.#arrivals.splice(0)) this.#arrived(page, where);
    }
  }

  #arrived(page: Page, place: Place): void {
    if (this.#ours.has(page) || page.isClosed()) return;
    if (this.#asked > 0) {
      this.#arrivals.push({ page, place });
      return;
    }
    if (this.#tabs.size >= MAX_TABS) {
      this.listener.notes.add(`A page opened another tab, which was closed: there are ${MAX_TABS} already.`);
      void page.close().catch(() => {});
      return;
    }
    const tab = this.#adopt(page, place);
    const inFront = this.#followed !== null && this.#followed === this.#current;
    this.listener.notes.add(`A page opened tab ${tab.id}${inFront ? ', which is in front now' : ''}.`);
    if (inFront) this.show(tab);
    this.#followed = null;
  }

  #adopt(page: Page, place: Place, { id, at } = { id: this.#freeId(), at: this.#order.length }): Tab {
    const tab = new Tab(id, page, place, this.patienceMs, {
      notes: this.listener.notes,
      download: (download) => this.listener.download(download),
      changed: () => this.listener.changed(),
      unusable: (which, why) => {
        if (this.#tabs.get(which.id) !== which) return;
        this.listener.notes.add(`Tab ${which.id} was closed: ${why}.`);
        void this.close(which);
      },
    });
    this.#tabs.set(tab.id, tab);
    this.#order.splice(at, 0, tab);
    this.#current ??= tab;
    page.once('close', () => this.#forget(tab));
    this.listener.changed();
    return tab;
  }

  #forget(tab: Tab): void {
    if (this.#tabs.get(tab.id) !== tab) return;
    this.#tabs.delete(tab.id);
    this.#order.splice(this.#order.indexOf(tab), 1);
    if (this.#current === tab) this.#current = this.#order.at(-1) ?? null;
    this.listener.changed();
  }

  #freeId(): string {
    for (;;) {
      const id = randomInt(36 ** 3, 36 ** 4).toString(36);
      if (!this.#tabs.has(id)) return id;
    }
  }
}

/** The renderer is ended from outside. */
async function crash(tab: Tab): Promise<void> {
  const session = await tab.session().catch(() => null);
  await session?.send('Page.crash').catch(() => {});
}
