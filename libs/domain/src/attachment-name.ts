/** Longest name. Bytes in UTF-8: file systems take 255. */
const MAX_NAME_BYTES = 180;
/** Longest ending that is kept when the name is cut. Bytes. */
const MAX_ENDING_BYTES = 20;
/** Controls, marks of direction and other characters that are not seen, unassigned ones, and halves of pairs. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\u2028\u2029]/gu;
/** What file systems, shells or Markdown read otherwise than as a letter of a name. */
const SPECIAL = /[<>:"'|?*`$\\/;&]/g;

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/**
 * The name of an uploaded file, safe as one segment of a path: without folders, control characters or marks of
 * direction, at most 180 bytes. What is clean stays as it is; what has nothing left is `file`.
 */
export function attachmentName(given: string): string {
  const last = given.normalize('NFC').split(/[/\\]/).at(-1) ?? '';
  const seen = last.replaceAll(UNSEEN, '').replaceAll(/\s+/g, ' ').replaceAll(SPECIAL, '-');
  // A leading dot hides a file, and a leading dash makes it an option.
  const name = cut(seen.replace(/^[\s.-]+/, '')).replace(/[\s.]+$/, '');
  return name === '' ? 'file' : name;
}

/** Cut between characters, with its ending kept. */
function cut(name: string): string {
  if (bytesOf(name) <= MAX_NAME_BYTES) return name;
  const dot = name.lastIndexOf('.');
  const ending = dot > 0 && bytesOf(name.slice(dot)) <= MAX_ENDING_BYTES ? name.slice(dot) : '';
  let stem = '';
  let room = MAX_NAME_BYTES - bytesOf(ending);
  for (const letter of ending === '' ? name : name.slice(0, dot)) {
    room -= bytesOf(letter);
    if (room < 0) break;
    stem += letter;
  }
  return `${stem}${ending}`;
}
