import type { BrowserObservation } from '@slipway/contracts/actions';
import { SlipwayError } from '@slipway/errors';
import { shownAddress } from './address.js';
import { line } from './page-text.js';
import type { BrowserState } from './running-browser.js';
import type { Tab } from './tab.js';
import { within } from './within.js';

/** Longest title. UTF-16 code units. */
const TITLE_LENGTH = 200;

const ON_ITS_WAY =
  'The page is on its way to another one, whose server has not answered yet. Wait and ask again, or open another address.';

/** What an action has to say: in our words, in the page's (marked as such), and as a picture (JPEG, base64). */
export interface Said {
  readonly text: string;
  readonly ofPage?: string;
  readonly picture?: string;
}

/** The answer to an action: what it says, where the browser is now, and what else happened meanwhile. */
export async function observed(browser: BrowserState, said: Said): Promise<BrowserObservation> {
  return answer(browser, said, {});
}

/**
 * The answer to an action that failed, whose tab is closed where it does not answer. @throws what is no failure of the
 * page or the browser.
 */
export async function failed(browser: BrowserState, thrown: unknown): Promise<BrowserObservation> {
  const error = asSlipwayError(browser, thrown);
  if (error.code === 'browser.page-hangs') {
    const { tabs } = browser.running ?? {};
    const tab = tabs?.current ?? null;
    if (tab?.awaitsServer === true)
      return answer(browser, { text: ON_ITS_WAY }, { is_error: true, error_code: 'browser.page-failed' });
    if (tab !== null) {
      await tabs?.close(tab);
      browser.notes.add(`Tab ${tab.id} was closed.`);
    }
  }
  return answer(browser, { text: error.detail }, { is_error: true, error_code: error.code });
}

async function answer(
  browser: BrowserState,
  { text, ofPage, picture }: Said,
  failure: object,
): Promise<BrowserObservation> {
  const tab = browser.current();
  const page = tab === null ? null : await pageOf(browser, tab);
  const lines = [
    text,
    page === null
      ? ''
      : `Tab ${page.tab_id} is at ${page.url}${page.title === '' ? '' : `, titled (in the page's words) ${JSON.stringify(page.title)}`}`,
    ...browser.notes.take().map((note) => `[${note}]`),
    ofPage ?? '',
  ];
  return {
    kind: 'BrowserObservation',
    content: [
      { type: 'text', text: lines.filter((one) => one !== '').join('\n') },
      ...(picture === undefined ? [] : [{ type: 'image' as const, image_urls: [`data:image/jpeg;base64,${picture}`] }]),
    ],
    is_error: false,
    screenshot_data: null,
    full_output_save_dir: null,
    page,
    ...failure,
  };
}

async function pageOf(browser: BrowserState, tab: Tab): Promise<NonNullable<BrowserObservation['page']>> {
  return {
    url: line(shownAddress(tab.page.url(), browser.options.workspace), 2_000),
    title: await titleOf(tab),
    tab_id: tab.id,
  };
}

/** As the page says it; empty for one that does not answer. */
export async function titleOf(tab: Tab): Promise<string> {
  if (tab.awaitsServer || !/^https?:/.test(tab.page.url())) return '';
  try {
    const session = await tab.session();
    const asked = session.send('Runtime.evaluate', {
      expression: 'String(document.title).slice(0, 1000)',
      returnByValue: true,
      timeout: 1_000,
    });
    const { result } = await within(asked, 2_000, new AbortController().signal, 'no title');
    return typeof result.value === 'string' ? line(result.value, TITLE_LENGTH) : '';
  } catch {
    return '';
  }
}

function asSlipwayError(browser: BrowserState, thrown: unknown): SlipwayError {
  if (thrown instanceof SlipwayError) return thrown;
  if (!(thrown instanceof Error)) throw thrown;
  if (browser.running === null || browser.running.chromium.ended)
    return new SlipwayError(
      'browser.lost',
      'The browser ended before it had done this. Go on: the next action starts a new one.',
      { cause: thrown },
    );
  const [first = ''] = thrown.message.split('\n');
  return new SlipwayError(
    'browser.page-failed',
    `The page could not do this: ${line(first.replace(/^\w+\.\w+: /, ''), 300)}`,
    { cause: thrown },
  );
}
