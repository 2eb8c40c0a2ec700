/**
 * A cell as spreadsheets read it: quoted where it must be, and never a formula. What begins with `=`, `+`, `-`, `@`, a
 * tab or a line break is text behind an apostrophe, however the repository or the user is called.
 */
export function csvCell(value: string | number | null): string {
  if (typeof value === 'number') return String(value);
  const text = value ?? '';
  const harmless = /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** RFC 4180: CRLF, a line of names first. */
export function csv(names: readonly string[], rows: ReadonlyArray<ReadonlyArray<string | number | null>>): string {
  return [names, ...rows].map((row) => `${row.map(csvCell).join(',')}\r\n`).join('');
}
