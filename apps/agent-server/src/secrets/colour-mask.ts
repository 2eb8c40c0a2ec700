import type { SecretMask } from './secret-mask.js';

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches colour codes
const COLOUR = /\u001b\[[0-?]*m/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const BEGUN = /\u001b(?:\[[0-?]{0,64})?$/;

/**
 * As `SecretMask.piece`, for text with colour codes: a program that colours a part of a secret must not show the rest.
 * Where nothing had to be hidden the colours stay; otherwise the piece comes without them.
 */
export function maskColoured(mask: Pick<SecretMask, 'piece'>, text: string): { shown: string; held: string } {
  if (!text.includes('\u001b')) return mask.piece(text);
  const begun = BEGUN.exec(text)?.[0] ?? '';
  if (begun !== '') {
    const { shown, held } = maskColoured(mask, text.slice(0, -begun.length));
    return { shown, held: held + begun };
  }
  const plain = text.replace(COLOUR, '');
  const { shown, held } = mask.piece(plain);
  if (shown + held !== plain) return { shown, held };
  const at = positionOf(text, shown.length);
  return { shown: text.slice(0, at), held: text.slice(at) };
}

/** Where the plain text has `length` code units, colours that stand there included. */
function positionOf(text: string, length: number): number {
  let [plain, from] = [0, 0];
  for (const colour of text.matchAll(COLOUR)) {
    if (plain + colour.index - from > length) break;
    plain += colour.index - from;
    from = colour.index + colour[0].length;
  }
  return from + (length - plain);
}
