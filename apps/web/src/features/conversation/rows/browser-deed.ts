import { type Step, stepState, textOf } from '../timeline-row.ts';

/** Longest address or name that a line shows. UTF-16 code units. */
const SHOWN = 300;

/** What is said of an action of the browser when it was done, and while it is not; whether its line names where the browser is then. */
const WORDS: Readonly<Record<string, readonly [done: string, undone: string, subject?: 'where' | 'url' | 'element' | 'tab_id']>> = {
  BrowserNavigateAction: ['Opened', 'Open', 'url'],
  BrowserClickAction: ['Clicked', 'Click', 'element'],
  BrowserTypeAction: ['Typed into', 'Type into', 'element'],
  BrowserGetStateAction: ['Looked at', 'Look at', 'where'],
  BrowserGetContentAction: ['Read', 'Read', 'where'],
  BrowserScrollAction: ['Scrolled', 'Scroll'],
  BrowserGoBackAction: ['Went back to', 'Go back from', 'where'],
  BrowserListTabsAction: ['Listed the tabs of the browser', 'List the tabs of the browser'],
  BrowserSwitchTabAction: ['Switched to tab', 'Switch to tab', 'tab_id'],
  BrowserCloseTabAction: ['Closed tab', 'Close tab', 'tab_id'],
  BrowserGetStorageAction: ['Read cookies and stored data of the browser', 'Read cookies and stored data of the browser'],
  BrowserStartRecordingAction: ['Began to record the browser', 'Record the browser'],
  BrowserStopRecordingAction: ['Ended the recording of the browser', 'End the recording of the browser'],
  BrowserSetStorageAction: ['Set cookies and stored data of the browser', 'Set cookies and stored data of the browser'],
};

/** What was done in the browser, and to what: an address, or an element in the page's words. */
export interface BrowserDeed {
  readonly verb: string;
  readonly what: string;
}

/** Of an action of the browser; `null` for another one. */
export function browserDeed(step: Step): BrowserDeed | null {
  const { action, observation } = step;
  const source = action ?? observation;
  if (source?.kind.startsWith('Browser') !== true) return null;
  const given = (name: string): string => (action?.[name] === undefined ? '' : String(action[name])).slice(0, SHOWN);
  const page = observation?.['page'] as { url?: unknown } | null | undefined;
  const where = typeof page?.url === 'string' && page.url !== 'about:blank' ? page.url.slice(0, SHOWN) : '';
  const [done, undone, subject] = WORDS[source.kind] ?? ['Used the browser', 'Use the browser', 'where'];
  const verb = stepState(step) === 'done' ? done : undone;
  switch (subject) {
    case undefined:
      return { verb: source.kind === 'BrowserScrollAction' ? `${verb} ${given('direction') || 'down'}` : verb, what: '' };
    case 'element':
      return { verb, what: elementIn(textOf(observation?.content ?? [])) || `element ${given('index')}` };
    case 'where':
      return { verb, what: where || 'the page' };
    default:
      return { verb, what: given(subject) };
  }
}

/** The element as the first line of the answer calls it: `[3] button "Save"`. */
function elementIn(text: string): string {
  return (/\[\d+\] ([a-z]+ "(?:[^"\\]|\\.)*")/.exec(text.split('\n', 1)[0] ?? '')?.[1] ?? '').slice(0, SHOWN);
}
