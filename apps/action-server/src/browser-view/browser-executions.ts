import type { BrowserAction } from '@slipway/contracts/actions';
import type { Execution } from '../actions/execution.js';
import type { Browser } from '../browser/browser.js';
import type { BrowserView } from './browser-view.js';

type BrowserActionKind = BrowserAction['kind'];

/** The agent's actions on the browser: one browser carries them out, after each other. */
export function browserExecutions({
  browser,
  browserView,
}: {
  readonly browser: Browser;
  readonly browserView: BrowserView;
}): { readonly [K in BrowserActionKind]: Execution<K> } {
  const each: Execution<BrowserActionKind> = {
    execute: (action, signal) => browserView.execute(action, signal),
    missing: () => browser.missing,
  };
  return {
    BrowserNavigateAction: each,
    BrowserClickAction: each,
    BrowserTypeAction: each,
    BrowserGetStateAction: each,
    BrowserGetContentAction: each,
    BrowserScrollAction: each,
    BrowserGoBackAction: each,
    BrowserListTabsAction: each,
    BrowserSwitchTabAction: each,
    BrowserCloseTabAction: each,
    BrowserGetStorageAction: each,
    BrowserSetStorageAction: each,
    BrowserStartRecordingAction: each,
    BrowserStopRecordingAction: each,
  };
}
