import { escapeHtml, type Page, page } from './layout.js';

/** One sentence and one way on. */
export function messagePage(options: { title: string; text: string; link: { href: string; label: string } }): Page {
  const { title, text, link } = options;
  return page({
    title: `${title} - Slipway`,
    body: `<h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p><p><a href="${escapeHtml(link.href)}">${escapeHtml(link.label)}</a></p>`,
  });
}
