import { MAX_IMAGES_LENGTH } from '@slipway/contracts/actions';
import { SlipwayError } from '@slipway/errors';
import type { Tab } from './tab.js';
import { within } from './within.js';

/** Longest wait for a picture. Milliseconds. */
const PICTURE_MS = 10_000;
/** JPEG, from the best down: the first that fits into an answer is taken. */
const QUALITIES = [70, 40, 15];

/**
 * What is in view, as a JPEG in base64 of at most `MAX_IMAGES_LENGTH`. @throws SlipwayError `browser.page-hangs`,
 * `browser.page-failed`.
 */
export async function screenshotOf(tab: Tab, signal: AbortSignal): Promise<string> {
  const session = await tab.session();
  for (const quality of QUALITIES) {
    const picture = session.send('Page.captureScreenshot', { format: 'jpeg', quality });
    const { data } = await within(
      picture,
      PICTURE_MS,
      signal,
      'The page does not show itself: its script, or its size, keeps it busy.',
    );
    if (data.length <= MAX_IMAGES_LENGTH - 100) return data;
  }
  throw new SlipwayError('browser.page-failed', 'The picture of the page is too large to be shown.');
}
