import type { CSSProperties } from 'react';

/** The viewer scrolls sideways inside its shadow root; a user without a pointer must get there. */
export function reachByKeyboard(node: HTMLElement): void {
  for (const code of node.shadowRoot?.querySelectorAll<HTMLElement>('[data-code]') ?? []) code.tabIndex = 0;
}

/** Line numbers keep 4.5:1 on the tinted lines; the surface is the page's own. */
export const LOOK = {
  '--diffs-fg-number-override': 'var(--ink-muted)',
  '--diffs-fg-number-addition-override': 'var(--ok)',
  '--diffs-fg-number-deletion-override': 'var(--bad)',
  '--diffs-font-size': '12px',
  '--diffs-line-height': '18px',
  '--diffs-font-family': 'var(--font-mono)',
  '--diffs-header-font-family': 'var(--font-sans)',
} as CSSProperties;

/** For a light and a dark page. */
export const THEMES = { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' } as const;

/** What differs within a line is marked by words. */
export const LINE_DIFF = 'word-alt';

/** Height of a line before it is measured, as `LOOK` has it. Pixels. */
export const METRICS = { hunkLineCount: 20, lineHeight: 18, diffHeaderHeight: 44, spacing: 8 } as const;

/** Inside the shadow root. A comment's grey is too faint on a tinted line. */
export const SKIN = `
:host { --diffs-light-bg: var(--surface); --diffs-dark-bg: var(--surface); }
[data-line] span[style*='66707B'] { --diffs-token-light: #4a525b !important; }
`;
