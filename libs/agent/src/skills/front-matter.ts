export type FrontMatter = Readonly<Record<string, string | readonly string[]>>;

/**
 * The fields between `---` lines at the beginning of a file, and the text after them. Reads what skills use of YAML:
 * plain and quoted values, lists on one line or several, and folded or literal blocks; deeper structure is passed over.
 * Never throws: a file without fields is its text.
 */
export function readFrontMatter(file: string): { fields: FrontMatter; text: string } {
  const match = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(file);
  if (match === null) return { fields: {}, text: file };
  const fields: Record<string, string | readonly string[]> = Object.create(null) as Record<
    string,
    string | readonly string[]
  >;
  const lines = (match[1] ?? '').split(/\r?\n/);
  for (let index = 0; index < lines.length; index += 1) {
    const field = /^([A-Za-z_][\w-]*):(?:[ \t]+(.*)|)$/.exec(lines[index] ?? '');
    if (field === null) continue;
    const [, name = '', rest = ''] = field;
    const below: string[] = [];
    while (index + 1 < lines.length && /^(?:[ \t]|-[ \t]|$)/.test(lines[index + 1] ?? '')) {
      index += 1;
      below.push(lines[index] ?? '');
    }
    fields[name] = parsedValue(rest.trim(), below);
  }
  return { fields, text: file.slice(match[0].length) };
}

function parsedValue(value: string, below: readonly string[]): string | readonly string[] {
  if (/^[|>][+-]?$/.test(value))
    return below
      .map((line) => line.trim())
      .join(value.startsWith('|') ? '\n' : ' ')
      .trim();
  if (value === '') {
    const items = below.flatMap((line) => /^[ \t]*-[ \t]+(.*)$/.exec(line)?.[1] ?? []);
    return items.map((item) => unquoted(item.trim()));
  }
  if (value.startsWith('[') && value.endsWith(']'))
    return [...value.slice(1, -1).matchAll(/\s*(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,\s][^,]*)/g)]
      .map(([item]) => unquoted(item.trim()))
      .filter((item) => item !== '');
  // A plain value goes on in indented lines.
  return unquoted([value, ...below.map((line) => line.trim())].join(' ').trim());
}

function unquoted(value: string): string {
  if (value.startsWith('"')) {
    const end = /^"((?:[^"\\]|\\.)*)"/.exec(value);
    return end === null ? value : (end[1] ?? '').replace(/\\(.)/g, '$1');
  }
  if (value.startsWith("'")) {
    const end = /^'((?:[^']|'')*)'/.exec(value);
    return end === null ? value : (end[1] ?? '').replaceAll("''", "'");
  }
  return value.replace(/[ \t]+#.*$/, '');
}
