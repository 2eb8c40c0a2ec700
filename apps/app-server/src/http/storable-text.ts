/** Text that a database can hold: no NUL, and no half of a surrogate pair. */
function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/**
 * Where in a value that was read from a request there is text that no database can hold, as the names on the way;
 * `null` when there is none. Names count as well as values. Its own stack, not the engine's: what is asked here has
 * been checked by nothing yet, and may be half a million brackets deep.
 */
export function unstorableText(value: unknown): string[] | null {
  const open: Array<{ readonly value: unknown; readonly parent: number; readonly name: string }> = [
    { value, parent: -1, name: '' },
  ];
  for (let index = 0; index < open.length; index += 1) {
    const { value: here } = open[index] as (typeof open)[number];
    if (typeof here === 'string' && !isStorable(here)) return wayTo(open, index);
    if (typeof here !== 'object' || here === null) continue;
    for (const [name, inner] of Object.entries(here)) {
      if (!isStorable(name)) return wayTo(open, index);
      open.push({ value: inner, parent: index, name });
    }
  }
  return null;
}

function wayTo(open: ReadonlyArray<{ readonly parent: number; readonly name: string }>, last: number): string[] {
  const names: string[] = [];
  for (let index = last; index > 0 && names.length < 20; index = open[index]?.parent ?? 0)
    names.unshift(open[index]?.name ?? '');
  return names;
}
