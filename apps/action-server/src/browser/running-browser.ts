import type { Chromium } from './chromium.js';
import type { Downloads } from './downloads.js';
import type { Notes } from './notes.js';
import type { Recordings } from './recordings.js';
import type { Tab } from './tab.js';
import type { Tabs } from './tabs.js';

/** What runs while the browser does. */
export interface RunningBrowser {
  readonly chromium: Chromium;
  readonly tabs: Tabs;
  readonly downloads: Downloads;
  readonly recordings: Recordings;
}

/** The browser between two actions. */
export interface BrowserState {
  readonly options: { readonly workspace: string };
  readonly notes: Notes;
  /** `null`: it does not run. */
  readonly running: RunningBrowser | null;
  /** The tab in front, or `null`. */
  current(): Tab | null;
}
