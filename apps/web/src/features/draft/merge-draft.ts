import type { MessageDraft } from '@slipway/contracts/conversations';

/** What this browser and the server last agreed on. */
export interface Synced {
  readonly text: string;
  /** 0: nothing is kept on the server. */
  readonly version: number;
}
export const NOTHING_SYNCED: Synced = { text: '', version: 0 };

export interface Merged {
  /** What the box shows from now on. */
  readonly text: string;
  readonly synced: Synced;
  /** Text of another device that the box does not show; offered. */
  readonly other: string | null;
}

/**
 * Brings together what is in the box and what the server keeps. A box that nobody has changed since follows the other
 * device; one that was changed here keeps its text, which is the newest, and the other text is offered.
 */
export function mergeDraft(text: string, synced: Synced, { text: kept, version }: MessageDraft): Merged {
  const remote = { text: kept, version };
  if (version === synced.version) return { text, synced, other: null };
  if (text === synced.text || text === kept) return { text: kept, synced: remote, other: null };
  return { text, synced: remote, other: kept.trim() === '' ? null : kept };
}

/** What was kept between page loads, read back; nothing for what cannot be read. */
export function readSynced(stored: string): Synced {
  try {
    const value = JSON.parse(stored) as Partial<Synced> | null;
    return typeof value?.text === 'string' && typeof value.version === 'number'
      ? { text: value.text, version: value.version }
      : NOTHING_SYNCED;
  } catch {
    return NOTHING_SYNCED;
  }
}

/** Empty when nothing is kept on the server. */
export function writeSynced(synced: Synced): string {
  return synced.version === 0 ? '' : JSON.stringify(synced);
}
