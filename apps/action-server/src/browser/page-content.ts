import type { BrowserGetContentAction } from '@slipway/contracts/actions';
import type { z } from 'zod';
import type { Said } from './browser-observation.js';
import { READ_CONTENT } from './page-scripts.js';
import { ofPage, plain } from './page-text.js';
import { unlessGone, worldsOf } from './page-world.js';
import { ABOUT_PDF, PDF } from './pdf.js';
import type { Tab } from './tab.js';

/** Most of a page's text that one answer has. UTF-16 code units. */
const PART_LENGTH = 20_000;
/** Most that is read of a page at all. UTF-16 code units. */
const PAGE_LENGTH = 2_000_000;
/** Longest that a document is read. Milliseconds. */
const BUDGET_MS = 3_000;

/** The page as Markdown, a part at a time, its frames after it. */
export async function contentOf(
  tab: Tab,
  { extract_links: links, start_from_char: start }: z.output<typeof BrowserGetContentAction>,
  signal: AbortSignal,
): Promise<Said> {
  let whole = '';
  let cut = false;
  let pdf = false;
  for (const [at, world] of (await worldsOf(tab, signal)).entries()) {
    const options = { links, length: PAGE_LENGTH - whole.length, budget: at === 0 ? BUDGET_MS : BUDGET_MS / 4 };
    if (options.length <= 0) break;
    const read = await unlessGone(
      world.ask<{ text: string; cut: boolean; type: string }>(READ_CONTENT, options, signal),
      at > 0,
    );
    if (read === null) continue;
    const { text, cut: cutHere, type } = read;
    const tidy = plain(text)
      .replaceAll(/[ \t]+/g, ' ')
      .replaceAll(/ ?\n ?/g, '\n')
      .replaceAll(/\n{3,}/g, '\n\n')
      .trim();
    if (tidy !== '') whole += at === 0 ? tidy : `\n\n(in a frame:)\n\n${tidy}`;
    cut ||= cutHere;
    pdf ||= at === 0 && type === PDF;
  }
  const part = whole.slice(start, start + PART_LENGTH).toWellFormed();
  const end = start + part.length;
  const more = end < whole.length ? ` Go on with start_from_char=${end}.` : '';
  const large = cut ? ' The page is very large: only its beginning was read.' : '';
  if (pdf) return { text: ABOUT_PDF };
  if (part === '' && start > 0)
    return { text: `The text of the page has ${whole.length} characters: there is nothing from ${start} on.` };
  return {
    text: `Characters ${start} to ${end} of ${whole.length}.${more}${large}`,
    ofPage: ofPage(part === '' ? '(no text)' : `${start > 0 ? '…' : ''}${part}${end < whole.length ? '…' : ''}`),
  };
}
