/** A stretch of text in one look. */
export interface Span {
  readonly text: string;
  /** Classes that say the look; empty for plain text. */
  readonly look: string;
}

const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: control characters are what this file is about
const COLOUR = /\u001b\[([0-9;:]*)m/g;
const OTHER =
  /\u001b(?:\[[0-?]*[ -/]*[@-ln-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])|[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f]/g;
const ANY_COLOUR = /\u001b\[[0-9;:]*m/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: up to here

interface Look {
  readonly colour: string;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
}
const PLAIN: Look = { colour: '', bold: false, dim: false, italic: false, underline: false };

/**
 * Terminal output in spans of one look: the sixteen colours that programs name; others are read over. Of a line that
 * was drawn again the last form stays.
 */
export function ansiSpans(output: string): readonly Span[] {
  const text = lastForms(output.replace(OTHER, ''));
  const spans: Span[] = [];
  let look = PLAIN;
  let from = 0;
  const push = (piece: string): void => {
    if (piece !== '') spans.push({ text: piece, look: classesOf(look) });
  };
  for (const match of text.matchAll(COLOUR)) {
    push(text.slice(from, match.index));
    from = match.index + match[0].length;
    look = apply(look, match[1] ?? '');
  }
  push(text.slice(from));
  return spans;
}

/** The same as text alone. */
export function ansiText(output: string): string {
  return lastForms(output.replace(OTHER, '')).replace(ANY_COLOUR, '');
}

function lastForms(text: string): string {
  const lines = text.replace(/\r+\n/g, '\n');
  return lines.includes('\r') ? lines.replace(/^.*\r(?!$)/gm, '').replace(/\r/g, '') : lines;
}

function apply(look: Look, parameters: string): Look {
  const codes = parameters.split(/[;:]/).map((code) => (code === '' ? 0 : Number(code)));
  let next = look;
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 0) next = PLAIN;
    else if (code === 1) next = { ...next, bold: true };
    else if (code === 2) next = { ...next, dim: true };
    else if (code === 3) next = { ...next, italic: true };
    else if (code === 4) next = { ...next, underline: true };
    else if (code === 22) next = { ...next, bold: false, dim: false };
    else if (code === 23) next = { ...next, italic: false };
    else if (code === 24) next = { ...next, underline: false };
    else if (code === 39) next = { ...next, colour: '' };
    else if (code >= 30 && code <= 37) next = { ...next, colour: NAMES[code - 30] ?? '' };
    else if (code >= 90 && code <= 97) next = { ...next, colour: NAMES[code - 90] ?? '' };
    else if (code === 38 || code === 48) {
      const index = codes[at + 1] === 5 ? codes[at + 2] : undefined;
      if (code === 38 && index !== undefined && index < 16) next = { ...next, colour: NAMES[index % 8] ?? '' };
      at += codes[at + 1] === 5 ? 2 : 4;
    }
  }
  return next;
}

/** Written out, so that the style sheet has them. */
const CLASSES: Readonly<Record<string, string>> = {
  black: 'text-ink-muted',
  red: 'text-ansi-red',
  green: 'text-ansi-green',
  yellow: 'text-ansi-yellow',
  blue: 'text-ansi-blue',
  magenta: 'text-ansi-magenta',
  cyan: 'text-ansi-cyan',
  white: 'text-ink',
};

function classesOf({ colour, bold, dim, italic, underline }: Look): string {
  return [
    colour === '' ? (dim ? 'text-ink-muted' : '') : (CLASSES[colour] ?? ''),
    bold ? 'font-semibold' : '',
    italic ? 'italic' : '',
    underline ? 'underline' : '',
  ]
    .filter(Boolean)
    .join(' ');
}
