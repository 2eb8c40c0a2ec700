/**
 * Characters that are not seen and change what is: control characters, zero-width ones, and those that turn the
 * direction of text.
 */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is made visible
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** Text as it is, with every unseen character spelt out: what a reader approves is what a shell reads. */
export function visibleText(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(UNSEEN, (character) => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}
