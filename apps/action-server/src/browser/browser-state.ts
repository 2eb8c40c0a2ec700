import { beginningOf } from '@slipway/contracts/actions';
import type { Said } from './browser-observation.js';
import { LIST_ELEMENTS } from './page-scripts.js';
import { line, ofPage, plain } from './page-text.js';
import { type PageWorld, unlessGone, worldsOf } from './page-world.js';
import { ABOUT_PDF, PDF } from './pdf.js';
import { screenshotOf } from './screenshot.js';
import type { Tab } from './tab.js';

/** Most elements that one state lists, and the longest name of one. */
export const MAX_ELEMENTS = 250;
const NAME_LENGTH = 100;
/** Of the text that is in view. UTF-16 code units. */
const TEXT_LENGTH = 2_000;
/** Longest that a document is scanned. Milliseconds. */
const BUDGET_MS = 2_000;

interface Listed {
  readonly elements: ReadonlyArray<{
    readonly role: string;
    readonly name: string;
    readonly facts: readonly string[];
    readonly seen: boolean;
  }>;
  /** Elements that are not listed. */
  readonly left: number;
  /** The document was not scanned completely. */
  readonly cut: boolean;
  readonly text: string;
  readonly top: number;
  readonly height: number;
  readonly shown: number;
  /** Of the document. */
  readonly type: string;
}

/** An element that the last state has listed: which of its document, and its description. */
export interface Numbered {
  readonly world: PageWorld;
  readonly at: number;
  readonly label: string;
}

const states = new WeakMap<Tab, readonly Numbered[]>();

/** The element of this number in the last state of the tab; `undefined` when there is none such. */
export function numbered(tab: Tab, index: number): Numbered | undefined {
  return states.get(tab)?.[index];
}

/**
 * The tab as the model sees it: what can be used, by number, and the text in view. Numbers hold until the next state,
 * or until the page goes.
 */
export async function stateOf(
  tab: Tab,
  { picture }: { readonly picture: boolean },
  signal: AbortSignal,
): Promise<Said> {
  const elements: Numbered[] = [];
  const lines: string[] = [];
  let view: Listed | undefined;
  let left = 0;
  let cut = false;
  states.delete(tab);
  for (const world of await worldsOf(tab, signal)) {
    const limit = MAX_ELEMENTS - elements.length;
    if (limit <= 0) break;
    const options = {
      limit,
      nameLength: NAME_LENGTH,
      textLength: view === undefined ? TEXT_LENGTH : 0,
      budget: view === undefined ? BUDGET_MS : BUDGET_MS / 4,
    };
    const listed = await unlessGone(world.ask<Listed>(LIST_ELEMENTS, options, signal), view !== undefined);
    if (listed === null) continue;
    if (view !== undefined && listed.elements.length > 0) lines.push('(in a frame:)');
    for (const [at, { role, name, facts, seen }] of listed.elements.entries()) {
      const label = `${line(role, 30)} ${JSON.stringify(line(name, NAME_LENGTH))}`;
      const more = [...facts, ...(seen ? [] : ['out of view'])].map((fact) => line(fact, 1_500)).join(', ');
      lines.push(`[${elements.length}] ${label}${more === '' ? '' : ` (${more})`}`);
      elements.push({ world, at, label });
    }
    left += listed.left;
    cut ||= listed.cut;
    view ??= listed;
  }
  states.set(tab, elements);
  const errors = tab.takeErrors();
  const below = view === undefined ? 0 : Math.max(0, view.height - view.top - view.shown);
  const text = [
    'Elements by number, for browser_click and browser_type:',
    ...(lines.length === 0 ? ['(none)'] : lines),
    ...(left > 0 ? [`(${left} more are not listed; those in view come first, so scroll to see others)`] : []),
    ...(cut ? ['(the page is very large: only its beginning was read)'] : []),
    '',
    'Text in view:',
    beginningOf(plain(view?.text ?? ''), TEXT_LENGTH - 1) || '(none)',
    ...(errors.length === 0 ? [] : ['', 'Errors of its scripts:', ...errors]),
  ].join('\n');
  const where = view === undefined ? '' : `${view.top} pixels above the view, ${below} below it.`;
  return {
    text: view?.type === PDF ? `${where} ${ABOUT_PDF}` : where,
    ofPage: ofPage(text),
    ...(picture ? { picture: await screenshotOf(tab, signal) } : {}),
  };
}
