import { type Step, textOf } from '../timeline-row.ts';

/** Longest address or name that a line shows. UTF-16 code units. */
const SHOWN = 300;

/** What was done in the browser, and to what: an address, or an element in the page's words. */
export interface BrowserDeed {
  readonly verb: string;
  readonly what: string;
}

/** Of an action of the browser; `null` for another one. */
export function browserDeed({ action, observation }: Pick<Step, 'action' | 'observation'>): BrowserDeed | null {
  const source = action ?? observation;
  if (source?.kind.startsWith('Browser') !== true) return null;
  const given = (name: string): string => (action?.[name] === undefined ? '' : String(action[name])).slice(0, SHOWN);
  const page = observation?.['page'] as { url?: unknown; title?: unknown } | null | undefined;
  const where = typeof page?.url === 'string' && page.url !== 'about:blank' ? page.url.slice(0, SHOWN) : '';
  /** The element as the answer calls it: `[3] button "Save"`. */
  const element =
    /\[\d+\] ([a-z]+ "(?:[^"\\]|\\.)*")/.exec(textOf(observation?.content ?? []).split('\n', 1)[0] ?? '')?.[1] ??
    (given('index') === '' ? '' : `element ${given('index')}`);
  switch (source.kind) {
    case 'BrowserNavigateAction':
      return { verb: 'Opened', what: given('url') };
    case 'BrowserClickAction':
      return { verb: 'Clicked', what: element.slice(0, SHOWN) };
    case 'BrowserTypeAction':
      return { verb: 'Typed into', what: element.slice(0, SHOWN) };
    case 'BrowserGetStateAction':
      return { verb: 'Looked at', what: where || 'the page' };
    case 'BrowserGetContentAction':
      return { verb: 'Read', what: where || 'the page' };
    case 'BrowserScrollAction':
      return { verb: `Scrolled ${given('direction') || 'down'}`, what: '' };
    case 'BrowserGoBackAction':
      return { verb: where === '' ? 'Went back' : 'Went back to', what: where };
    case 'BrowserListTabsAction':
      return { verb: 'Listed the tabs of the browser', what: '' };
    case 'BrowserSwitchTabAction':
      return { verb: 'Switched to tab', what: where || given('tab_id') };
    case 'BrowserCloseTabAction':
      return { verb: 'Closed tab', what: given('tab_id') };
    case 'BrowserGetStorageAction':
      return { verb: 'Read cookies and stored data of the browser', what: '' };
    case 'BrowserSetStorageAction':
      return { verb: 'Set cookies and stored data of the browser', what: '' };
    default:
      return { verb: 'Used the browser', what: where };
  }
}
