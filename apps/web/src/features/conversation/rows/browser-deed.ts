import type { MessageKey, Translate } from '../../../messages/translate.ts';
import { type Step, stepState, textOf } from '../timeline-row.ts';

/** Longest address or name that a line shows. UTF-16 code units. */
const SHOWN = 300;

type Words = readonly [done: MessageKey, undone: MessageKey, subject?: 'where' | 'url' | 'element' | 'tab_id'];

/** An action of the browser when it was done, and while it is not; whether its line names where the browser is then. */
const WORDS: Readonly<Record<string, Words>> = {
  BrowserNavigateAction: ['conversation.opened', 'conversation.openIt', 'url'],
  BrowserClickAction: ['conversation.clicked', 'conversation.click', 'element'],
  BrowserTypeAction: ['conversation.typedInto', 'conversation.typeInto', 'element'],
  BrowserGetStateAction: ['conversation.lookedAt', 'conversation.lookAt', 'where'],
  BrowserGetContentAction: ['conversation.read', 'conversation.read', 'where'],
  BrowserGoBackAction: ['conversation.wentBackTo', 'conversation.goBackFrom', 'where'],
  BrowserListTabsAction: ['conversation.listedBrowserTabs', 'conversation.listBrowserTabs'],
  BrowserSwitchTabAction: ['conversation.switchedToTab', 'conversation.switchToTab', 'tab_id'],
  BrowserCloseTabAction: ['conversation.closedTab', 'conversation.closeTab', 'tab_id'],
  BrowserGetStorageAction: ['conversation.readBrowserCookiesAndStorage', 'conversation.readBrowserCookiesAndStorage'],
  BrowserStartRecordingAction: ['conversation.startedRecordingTheBrowser', 'conversation.recordTheBrowser'],
  BrowserStopRecordingAction: ['conversation.stoppedRecordingTheBrowser', 'conversation.stopRecordingTheBrowser'],
  BrowserSetStorageAction: ['conversation.setBrowserCookiesAndStorage', 'conversation.setBrowserCookiesAndStorage'],
};
const OTHER: Words = ['conversation.usedTheBrowser', 'conversation.useTheBrowser', 'where'];
const DIRECTIONS: Readonly<Record<string, readonly [done: MessageKey, undone: MessageKey]>> = {
  up: ['conversation.scrolledUp', 'conversation.scrollUp'],
  down: ['conversation.scrolledDown', 'conversation.scrollDown'],
  left: ['conversation.scrolledLeft', 'conversation.scrollLeft'],
  right: ['conversation.scrolledRight', 'conversation.scrollRight'],
};

/** What was done in the browser, and to what: an address, or an element in the page's words. */
export interface BrowserDeed {
  readonly verb: string;
  readonly what: string;
}

/** Of an action of the browser; `null` for another one. */
export function browserDeed(t: Translate, step: Step): BrowserDeed | null {
  const { action, observation } = step;
  const source = action ?? observation;
  if (source?.kind.startsWith('Browser') !== true) return null;
  const given = (name: string): string => (action?.[name] === undefined ? '' : String(action[name])).slice(0, SHOWN);
  const page = observation?.['page'] as { url?: unknown } | null | undefined;
  const where = typeof page?.url === 'string' && page.url !== 'about:blank' ? page.url.slice(0, SHOWN) : '';
  const scroll =
    source.kind === 'BrowserScrollAction' ? (DIRECTIONS[given('direction')] ?? DIRECTIONS['down']) : undefined;
  const [done, undone, subject] = scroll ?? WORDS[source.kind] ?? OTHER;
  const verb = t(stepState(step) === 'done' ? done : undone);
  switch (subject) {
    case undefined:
      return { verb, what: '' };
    case 'element':
      return {
        verb,
        what: elementIn(textOf(observation?.content ?? [])) || t('conversation.element', { index: given('index') }),
      };
    case 'where':
      return { verb, what: where || t('conversation.thePage') };
    default:
      return { verb, what: given(subject) };
  }
}

/** The element as the first line of the answer calls it: `[3] button "Save"`. */
function elementIn(text: string): string {
  return (/\[\d+\] ([a-z]+ "(?:[^"\\]|\\.)*")/.exec(text.split('\n', 1)[0] ?? '')?.[1] ?? '').slice(0, SHOWN);
}
