import type { Attachment } from '@slipway/contracts/conversations';

/** A file of the next message, from the moment that it is given. */
export interface AttachedFile {
  /** Of this page; the key of its upload, so that a repeated one is one file. */
  readonly key: string;
  readonly name: string;
  readonly sizeBytes: number;
  readonly mediaType: string;
  /** On the server; absent while it is on its way, or when that failed. */
  readonly id?: string;
  /** Share of it that is sent, 0 to 1. */
  readonly progress: number;
  /** Why it is not there. `retry`: it may work when it is sent again. */
  readonly error?: { readonly message: string; readonly retry: boolean };
  /** Text that was pasted and became this file. */
  readonly pasted?: string;
}

/** More than this becomes a file when it is pasted. UTF-16 code units, lines. */
export const LONG_TEXT = { length: 10_000, lines: 400 };

/** Whether a pasted text is better read as a file. */
export function isLongText(text: string): boolean {
  if (text.length > LONG_TEXT.length) return true;
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1 && lines <= LONG_TEXT.lines; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines > LONG_TEXT.lines;
}

/** A name that none of the others has: `pasted-text.txt`, then `pasted-text-2.txt`. */
export function freeName(name: string, others: readonly string[]): string {
  const dot = name.lastIndexOf('.');
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? name : `${stem}-${number}${ending}`;
    if (!others.includes(free)) return free;
  }
}

/** What is kept of a file that is on the server. */
export type KeptFile = Pick<Attachment, 'id' | 'name' | 'sizeBytes' | 'mediaType'>;

export function keptOf(files: readonly AttachedFile[]): KeptFile[] {
  return files.flatMap(({ id, name, sizeBytes, mediaType }) =>
    id === undefined ? [] : [{ id, name, sizeBytes, mediaType }],
  );
}

/** Files as they were before the page was loaded again. */
export function filesOf(kept: readonly KeptFile[]): AttachedFile[] {
  return kept.map((file) => ({ ...file, key: file.id, progress: 1 }));
}

/** The entries of a list that was stored; none for what is no such list. */
export function keptFiles(value: unknown): KeptFile[] {
  return (Array.isArray(value) ? value : [])
    .filter(isKept)
    .map(({ id, name, sizeBytes, mediaType }) => ({ id, name, sizeBytes, mediaType }));
}

/** Empty without files, so that nothing is kept. */
export function writeFiles(files: readonly AttachedFile[]): string {
  const kept = keptOf(files);
  return kept.length === 0 ? '' : JSON.stringify(kept);
}

/** Nothing for what cannot be read. */
export function readFiles(stored: string): AttachedFile[] {
  try {
    return filesOf(keptFiles(JSON.parse(stored)));
  } catch {
    return [];
  }
}

function isKept(value: unknown): value is KeptFile {
  const { id, name, sizeBytes, mediaType } = (value ?? {}) as Record<string, unknown>;
  return [id, name, mediaType].every((each) => typeof each === 'string') && typeof sizeBytes === 'number';
}
