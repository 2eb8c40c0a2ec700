/**
 * Control characters, and those that reorder text or have no width: what is read is then not what is there
 * (CVE-2021-42574). Tabs and the ends of lines are left to whoever shows them.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const HIDDEN = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** The text with a mark such as `⟨U+202E⟩` in the place of each such character. */
export function visibleMarks(text: string): string {
  return text.replace(
    HIDDEN,
    (character) => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
  );
}
