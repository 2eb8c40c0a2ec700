/**
 * What to look for in the list of repositories, for what stands in the field; `null`: it is an address, and nothing is
 * looked for.
 */
export function searchOf(typed: string): string | null {
  const text = typed.trim();
  if (text.includes('://') || text.startsWith('git@')) return null;
  const reference = /^[a-z][a-z0-9-]*:(.*)$/.exec(text);
  return reference?.[1] ?? text;
}

/** `owner/name` of a reference `provider:owner/name`. */
export function fullNameOf(reference: string): string {
  return reference.slice(reference.indexOf(':') + 1).trim();
}
