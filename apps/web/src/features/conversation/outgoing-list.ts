import { type KeptFile, keptFiles } from '../attachments/attached-file.ts';

/** A message that this browser has not handed over yet. */
export interface Outgoing {
  readonly id: string;
  readonly text: string;
  /** Its files, which are on the server; absent: none. */
  readonly files?: readonly KeptFile[];
  /** Why it was not sent; absent while that is not known. */
  readonly error?: string;
}

/** Most messages that wait at once; more are not taken in. */
const MAX_OUTGOING = 20;

/** Pauses before a message is sent again by itself: some 45 s, as long as a part of the system is replaced. */
const AGAIN_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 15_000] as const;

/**
 * When a message is sent again without its user: only where a part of the system does not answer, which passes. It has
 * the same id, so it is one message. Milliseconds; `null`: its user decides. @param failures before this one.
 */
export function againAfterMs(failures: number, code: string): number | null {
  return code === 'service.unavailable' ? (AGAIN_MS[failures] ?? null) : null;
}

/** What is kept between page loads, read back; nothing for what cannot be read. */
export function readOutgoing(stored: string): readonly Outgoing[] {
  try {
    const list: unknown = JSON.parse(stored);
    if (!Array.isArray(list)) return [];
    return list
      .filter((each): each is Outgoing => typeof each?.id === 'string' && typeof each.text === 'string')
      .map(({ id, text, files, error }) => ({
        id,
        text,
        ...withFiles(keptFiles(files)),
        ...(typeof error === 'string' ? { error } : {}),
      }))
      .slice(0, MAX_OUTGOING);
  } catch {
    return [];
  }
}

/** No field without files. */
export function withFiles(files: readonly KeptFile[] = []): { readonly files?: readonly KeptFile[] } {
  return files.length === 0 ? {} : { files };
}

/** Empty when nothing waits, so that nothing is kept. */
export function writeOutgoing(list: readonly Outgoing[]): string {
  return list.length === 0 ? '' : JSON.stringify(list);
}
