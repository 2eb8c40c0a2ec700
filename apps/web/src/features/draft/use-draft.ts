'use client';
import { MAX_DRAFT_BYTES } from '@slipway/contracts/conversations';
import { useEffect, useRef, useState } from 'react';
import { api } from '../../api/client.ts';
import { useStored } from '../../browser/stored.ts';
import { mergeDraft, readSynced, writeSynced } from './merge-draft.ts';

/** After the last key. Milliseconds. */
const SAVE_AFTER_MS = 800;

export interface DraftBox {
  readonly orgId: string;
  /** A conversation's id, or `new-task`. */
  readonly subject: string;
  /** Where this browser keeps the text itself. */
  readonly key: string;
  readonly text: string;
  readonly setText: (text: string) => void;
  /** A message of this box is on its way: the draft stays on the server until the server has the message. */
  readonly sending: boolean;
}

export interface DraftState {
  /** Text of another device that the box does not show. */
  readonly other: string | null;
  readonly dropOther: () => void;
  /** The text is too long to be kept on the server: this browser alone has it. */
  readonly isLocal: boolean;
}

/**
 * Keeps what is written in a box on the server too, to be continued on another device. The browser's own copy comes
 * first: without a server, or with one that has no drafts, nothing is lost but the other device.
 */
export function useDraft({ orgId, subject, key, text, setText, sending }: DraftBox): DraftState {
  const [stored, store] = useStored(`${key}.synced`, '');
  const [other, setOther] = useState<string | null>(null);
  /** As of the last render: what is answered meanwhile meets what is written by then. */
  const now = useRef({ text, stored, setText, store });
  now.current = { text, stored, setText, store };
  const isLocal = text.length > MAX_DRAFT_BYTES / 4 && new TextEncoder().encode(text).length > MAX_DRAFT_BYTES;

  useEffect(() => {
    const stop = new AbortController();
    const look = () => {
      if (document.visibilityState !== 'visible') return;
      api.getDraft({ org: orgId, draft: subject, signal: stop.signal }).then(
        (kept) => {
          const merged = mergeDraft(now.current.text, readSynced(now.current.stored), kept);
          now.current.store(writeSynced(merged.synced));
          if (merged.text !== now.current.text) now.current.setText(merged.text);
          if (merged.other !== null) setOther(merged.other);
        },
        () => {},
      );
    };
    look();
    document.addEventListener('visibilitychange', look);
    window.addEventListener('focus', look);
    return () => {
      stop.abort();
      document.removeEventListener('visibilitychange', look);
      window.removeEventListener('focus', look);
    };
  }, [orgId, subject]);

  useEffect(() => {
    const synced = readSynced(stored);
    if (text === synced.text || isLocal || (sending && text === '')) return;
    const save = async () => {
      if (text === '') {
        await api.dropDraft({ org: orgId, draft: subject, query: { version: synced.version } });
        now.current.store('');
        return;
      }
      const kept = await api.keepDraft({ org: orgId, draft: subject, body: { text, version: synced.version } });
      now.current.store(writeSynced({ text, version: kept.version }));
      if (kept.replaced !== null) setOther(kept.replaced);
    };
    // A save that fails is made up for by the next change.
    const timer = setTimeout(() => void save().catch(() => {}), SAVE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [orgId, subject, text, stored, isLocal, sending]);

  return { other, dropOther: () => setOther(null), isLocal };
}
