/**
 * Whether a pattern names a repository: `*` stands for any part of one name, `**` for any names with what is between
 * them. Without case. Linear: each star is gone back to at most once a character.
 */
export function matchesPattern(pattern: string, fullName: string): boolean {
  const wanted = tokensOf(pattern.toLowerCase());
  const text = fullName.toLowerCase();
  let open = new Set([0]);
  const closed = (states: ReadonlySet<number>): Set<number> => {
    const all = new Set(states);
    for (const at of all) if (wanted[at]?.length !== 1 && wanted[at] !== undefined) all.add(at + 1);
    return all;
  };
  open = closed(open);
  for (const letter of text) {
    const next = new Set<number>();
    for (const at of open) {
      const token = wanted[at];
      if (token === '**' || (token === '.*' && letter !== '/')) next.add(at);
      else if (token === letter) next.add(at + 1);
    }
    open = closed(next);
  }
  return open.has(wanted.length);
}

/** A letter, or what a star stands for: never one letter long. */
function tokensOf(pattern: string): string[] {
  return (pattern.match(/\*\*|\*|[^*]/gu) ?? []).map((token) => (token === '*' ? '.*' : token));
}

export const isExact = (pattern: string): boolean => !pattern.includes('*');
