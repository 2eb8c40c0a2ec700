import type { BrowserClickAction } from '@slipway/contracts/actions';
import { SlipwayError } from '@slipway/errors';
import type { z } from 'zod';
import { numbered } from './browser-state.js';
import { goTo } from './navigate.js';
import { CLICK_ELEMENT, DESCRIBE_ELEMENT, FIND_ELEMENT } from './page-scripts.js';
import type { PageElement } from './page-world.js';
import type { Tab } from './tab.js';
import type { Tabs } from './tabs.js';
import { within } from './within.js';

export interface Described {
  readonly tag: string;
  readonly type: string;
  readonly editable: boolean;
  readonly disabled: boolean;
  readonly readOnly: boolean;
  /** A click on its middle gets to it. */
  readonly reached: boolean;
  /** What is above it otherwise. */
  readonly cover: string;
  /** Where it leads; empty for what is no link. */
  readonly href: string;
}

/** The element of the last state, and its description. @throws SlipwayError `browser.element-gone`. */
export async function elementOf(
  tab: Tab,
  index: number,
  signal: AbortSignal,
): Promise<{ element: PageElement; label: string }> {
  const known = numbered(tab, index);
  const element = known === undefined ? null : await known.world.element(FIND_ELEMENT, known.at, signal);
  if (known === undefined || element === null)
    throw new SlipwayError(
      'browser.element-gone',
      `There is no element [${index}] on the page now. Read the state again (browser_get_state), and use the numbers of that.`,
    );
  return { element, label: `[${index}] ${known.label}` };
}

/**
 * Clicks like a user: on the middle of the element, scrolled to. What lies below something else is pressed by script.
 */
export async function clickElement(
  tabs: Tabs,
  tab: Tab,
  { index, new_tab: newTab }: z.output<typeof BrowserClickAction>,
  signal: AbortSignal,
): Promise<string> {
  const { element, label } = await elementOf(tab, index, signal);
  const { x, y } = await element.middle();
  const { disabled, reached, cover, href } = await element.ask<Described>(DESCRIBE_ELEMENT);
  if (disabled) throw new SlipwayError('browser.refused', `Not clicked: ${label} is disabled.`);
  if (newTab && /^https?:/.test(href)) {
    // A link of a page of the workspace leads nowhere else: it may have in it what the page has read.
    const other = await tabs.open(tab.place);
    return `Opened the link of ${label} in tab ${other.id}. ${await goTo(other, href, signal)}`.trim();
  }
  if (!reached) {
    await element.ask(CLICK_ELEMENT);
    return `Clicked ${label}, by script: a <${cover.slice(0, 40)}> lies above it.`;
  }
  await within(
    tab.page.mouse.click(x, y),
    tab.patienceMs,
    signal,
    'The page does not take the click: its script keeps it busy.',
  );
  return `Clicked ${label}.`;
}
