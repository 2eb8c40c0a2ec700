/**
 * What a tool was given, as one line for a user: the value alone where there is one, else names and values. Cut at
 * `longest` UTF-16 code units.
 */
export function givenInLine(given: unknown, longest: number): string {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return given === undefined || given === null ? '' : shown(given, longest);
  const entries = Object.entries(given);
  const [first] = entries;
  if (first === undefined) return '';
  if (entries.length === 1) return shown(first[1], longest);
  let line = '';
  for (const [name, value] of entries) {
    if (line.length > longest) break;
    line += `${line === '' ? '' : ', '}${shown(name, longest)}: ${shown(value, longest)}`;
  }
  return line.slice(0, longest);
}

function shown(value: unknown, longest: number): string {
  const text = typeof value === 'string' ? value.slice(0, 4 * longest) : (JSON.stringify(value) ?? '');
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, longest);
}
