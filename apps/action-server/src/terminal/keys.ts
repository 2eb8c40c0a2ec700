const NAMED: Readonly<Record<string, string>> = {
  UP: '\x1b[A',
  DOWN: '\x1b[B',
  RIGHT: '\x1b[C',
  LEFT: '\x1b[D',
  HOME: '\x1b[H',
  END: '\x1b[F',
  PGUP: '\x1b[5~',
  PGDN: '\x1b[6~',
  TAB: '\t',
  ESC: '\x1b',
  BS: '\x7f',
  ENTER: '\n',
};

/**
 * What a terminal sends for an input: a key by its name (`C-c`, `UP`, `TAB` …) as the key, any other text as a line.
 */
export function keysOf(input: string): string {
  const name = input.trim();
  const letter = /^(?:C-|CTRL-|CTRL\+)([a-z@[\\\]^_])$/i.exec(name)?.[1];
  if (letter !== undefined) return String.fromCharCode(letter.toUpperCase().charCodeAt(0) & 0x1f);
  return NAMED[name] ?? `${input}\n`;
}
