import { setTimeout as delay } from 'node:timers/promises';
import type { BrowserAction } from '@slipway/contracts/actions';
import type { ShellEnvironment } from '../terminal/shell-environment.js';
import { addressOf, placeOf, shownAddress } from './address.js';
import type { Said } from './browser-observation.js';
import { titleOf } from './browser-observation.js';
import { stateOf } from './browser-state.js';
import { VIEWPORT } from './chromium.js';
import { clickElement } from './click-element.js';
import type { Downloads } from './downloads.js';
import { DOWNLOADED, goBack, goTo, settled } from './navigate.js';
import { contentOf } from './page-content.js';
import { line, ofPage } from './page-text.js';
import type { Recordings } from './recordings.js';
import { putStorage, storageOf } from './storage.js';
import type { Tab } from './tab.js';
import type { Tabs } from './tabs.js';
import { typeInto } from './type-into.js';
import { within } from './within.js';

/**
 * Longest wait for a file that an action has begun to download, in times of the tab's patience; then it is reported
 * later.
 */
const DOWNLOAD_PATIENCE = 2.5;
/** Longest wait for a download to begin that was announced. Milliseconds. */
const BEGIN_MS = 5_000;

export interface BrowserHands {
  readonly workspace: string;
  readonly environment: ShellEnvironment;
  readonly tabs: Tabs;
  readonly downloads: Downloads;
  readonly recordings: Recordings;
}

/**
 * Does one action. @returns what it says. @throws SlipwayError of `browser.*`, `file.*`; the signal's reason; what
 * playwright says of a page that went away.
 */
export async function performAction(hands: BrowserHands, action: BrowserAction, signal: AbortSignal): Promise<Said> {
  const { tabs, workspace } = hands;
  const inFront = async (): Promise<Tab> => tabs.current ?? tabs.open('sites');
  switch (action.kind) {
    case 'BrowserNavigateAction': {
      const url = await addressOf(action.url, workspace);
      const tab = await (action.new_tab ? tabs.open(placeOf(url)) : tabs.inFront(placeOf(url)));
      const result = await goTo(tab, url, signal);
      // Chromium says that there is one a moment before it says which.
      if (result === DOWNLOADED) await untilOr(() => hands.downloads.begun > 0, BEGIN_MS, signal);
      await downloaded(hands, tab, signal);
      return { text: result === '' ? 'The page is there.' : result };
    }
    case 'BrowserClickAction': {
      const tab = await inFront();
      const text = await tabs.following(tab, async () => {
        const result = await clickElement(tabs, tab, action, signal);
        if (!tab.page.isClosed()) await settled(tab, signal);
        return result;
      });
      await downloaded(hands, tab, signal);
      return { text };
    }
    case 'BrowserTypeAction': {
      const tab = await inFront();
      const text = await tabs.following(tab, async () => {
        const result = await typeInto(tab, action, hands, signal);
        await settled(tab, signal);
        return result;
      });
      await downloaded(hands, tab, signal);
      return { text };
    }
    case 'BrowserGetStateAction': {
      const said = await stateOf(await inFront(), { picture: action.include_screenshot }, signal);
      const others = tabs.list().length - 1;
      return others > 0 ? { ...said, text: `${said.text} There are ${others} other tabs (browser_list_tabs).` } : said;
    }
    case 'BrowserGetContentAction':
      return contentOf(await inFront(), action, signal);
    case 'BrowserScrollAction':
      return { text: await scroll(await inFront(), action.direction, signal) };
    case 'BrowserGoBackAction': {
      const result = await goBack(await inFront(), signal);
      return {
        text:
          result === null
            ? 'There is no earlier page in this tab.'
            : result === ''
              ? 'The earlier page is there.'
              : result,
      };
    }
    case 'BrowserListTabsAction':
      return {
        text: `${tabs.list().length} tabs:`,
        ofPage: ofPage((await Promise.all(tabs.list().map((tab) => result(hands, tab)))).join('\n') || '(none)'),
      };
    case 'BrowserSwitchTabAction':
      tabs.show(tabs.named(action.tab_id));
      return { text: `Tab ${action.tab_id} is in front.` };
    case 'BrowserCloseTabAction':
      await tabs.close(tabs.named(action.tab_id));
      return { text: tabs.current === null ? 'The tab was closed; there is none any more.' : 'The tab was closed.' };
    case 'BrowserGetStorageAction':
      return storageOf(tabs.storage, signal);
    case 'BrowserStartRecordingAction':
      await inFront();
      return { text: await hands.recordings.start(tabs.list()) };
    case 'BrowserStopRecordingAction':
      return { text: await hands.recordings.stop() };
    case 'BrowserSetStorageAction':
      return { text: await putStorage(tabs, action.storage_state, signal) };
  }
}

async function result({ tabs, workspace }: BrowserHands, tab: Tab): Promise<string> {
  const title = await titleOf(tab);
  return `${tab.id}: ${line(shownAddress(tab.page.url(), workspace), 300)} ${title === '' ? '' : JSON.stringify(title)}${tab === tabs.current ? ' (in front)' : ''}`;
}

async function scroll(tab: Tab, direction: 'up' | 'down', signal: AbortSignal): Promise<string> {
  const by = Math.round(VIEWPORT.height * 0.8) * (direction === 'up' ? -1 : 1);
  const hangs = 'The page does not scroll: its script keeps it busy.';
  await within(tab.page.mouse.move(VIEWPORT.width / 2, VIEWPORT.height / 2), tab.patienceMs, signal, hangs);
  await within(tab.page.mouse.wheel(0, by), tab.patienceMs, signal, hangs);
  await settled(tab, signal);
  return `Scrolled ${direction}.`;
}

/** What came of a download that the action began is reported with its own answer, when it does not take long. */
function downloaded({ downloads }: BrowserHands, tab: Tab, signal: AbortSignal): Promise<void> {
  return untilOr(() => !downloads.areUnderWay, DOWNLOAD_PATIENCE * tab.patienceMs, signal);
}

async function untilOr(holds: () => boolean, ms: number, signal: AbortSignal): Promise<void> {
  const end = performance.now() + ms;
  while (!holds() && performance.now() < end) await delay(25, undefined, { signal });
}
