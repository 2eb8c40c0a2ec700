/**
 * E-mail addresses out of pasted text: separated by spaces, commas, semicolons or lines, also as `Name <address>`; each
 * once, in their order. Words before angle brackets are a name; any other word that is no address is kept, so that the
 * answer can call it wrong.
 */
export function addressesOf(text: string): string[] {
  const found: string[] = [];
  // A quoted name may have a comma in it.
  for (const part of text.replaceAll(/"[^"\n]*"/g, ' ').split(/[\n,;]+/)) {
    const bracketed = [...part.matchAll(/<([^<>]*)>/g)].map((match) => match[1]?.trim() ?? '');
    found.push(...(bracketed.length > 0 ? bracketed : part.split(/\s+/)));
  }
  const seen = new Set<string>();
  return found.filter((address) => {
    const key = address.toLowerCase();
    if (address === '' || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
