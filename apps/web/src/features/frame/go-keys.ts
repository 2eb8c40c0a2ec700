/**
 * Where a key leads, as the rest of the organization's address; `null` for nowhere. @param afterG pressed soon after
 * `g`.
 */
export function placeOfKey(key: string, afterG: boolean): string | null {
  if (!afterG) return key === 'c' ? '' : null;
  return { c: '/conversations', a: '/admin', n: '' }[key] ?? null;
}
