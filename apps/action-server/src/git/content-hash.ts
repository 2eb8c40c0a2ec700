/**
 * What a file holds, by git's names for mode and content; two alike mean the same file. Short, since a list has
 * thousands.
 */
export function contentHash(mode: string, blob: string): string {
  return `${mode}.${blob.slice(0, 24)}`;
}
