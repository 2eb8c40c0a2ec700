'use client';
import { IconButton } from '@slipway/ui';
import { ChevronDown, ChevronUp, X } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { type KeyboardEvent, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { useConversation, useView } from '../conversation-context.ts';
import { joinMatches, type Match, matchesIn, placeOf } from './matches.ts';
import { useFound } from './use-found.ts';

/** Finds text in the whole log: in rows that are folded, closed or not loaded too. Opens what it comes to. */
export default function FindBar({ close }: { close: () => void }) {
  const t = useTranslations();
  const { reveal } = useConversation();
  const [text, setText] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const { matches, counted } = useMatches(useDeferredValue(text));
  const [current, setCurrent] = useState<Match | null>(null);
  const at = current === null ? -1 : placeOf(matches, current);
  useEffect(() => field.current?.focus(), []);
  const go = (step: -1 | 1) => {
    if (matches.length === 0) return;
    // The first press comes to the newest.
    const to = at === -1 ? matches.length - 1 : (at + step + matches.length) % matches.length;
    const match = matches[to];
    if (match === undefined) return;
    setCurrent(match);
    reveal.ask(match.seq, { stepId: match.stepId, focus: false });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter') go(event.shiftKey ? -1 : 1);
    else if (event.key === 'Escape') {
      event.preventDefault();
      close();
      if (current !== null) reveal.ask(current.seq, { stepId: current.stepId, focus: true });
    }
  };
  return (
    <search className="pointer-events-auto ml-auto flex max-w-full items-center gap-1 rounded-md border border-line bg-surface p-1 shadow-float">
      <input
        ref={field}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setCurrent(null);
        }}
        onKeyDown={onKeyDown}
        maxLength={200}
        aria-label={t('reading.findInConversation')}
        placeholder={t('reading.findInConversation')}
        className="h-7 w-44 min-w-0 shrink rounded bg-transparent px-2 text-sm outline-offset-0 touch:h-11"
      />
      <span role="status" className="min-w-16 shrink-0 px-1 text-right text-xs text-ink-muted tabular-nums">
        {text.trim() === '' ? '' : counted(at)}
      </span>
      <IconButton label={t('reading.previousMatch')} size="icon-small" onClick={() => go(-1)}>
        <ChevronUp aria-hidden />
      </IconButton>
      <IconButton label={t('reading.nextMatch')} size="icon-small" onClick={() => go(1)}>
        <ChevronDown aria-hidden />
      </IconButton>
      <IconButton label={t('reading.closeFind')} size="icon-small" onClick={close}>
        <X aria-hidden />
      </IconButton>
    </search>
  );
}

function useMatches(text: string): { matches: readonly Match[]; counted: (at: number) => string } {
  const t = useTranslations();
  const rows = useView((view) => view.timeline.rows);
  const firstSeq = useView((view) => view.firstSeq);
  const { hits, state } = useFound(text);
  const loaded = useMemo(() => matchesIn(rows, text), [rows, text]);
  const matches = useMemo(() => joinMatches(hits, loaded, firstSeq), [hits, loaded, firstSeq]);
  const counted = (at: number): string => {
    const more = state === 'whole' ? 'no' : 'yes';
    if (state === 'failed') return t('reading.loadedOnly', { place: at + 1, count: matches.length });
    if (matches.length === 0) return state === 'asking' ? t('reading.searching') : t('reading.noMatch');
    return at === -1
      ? t('reading.matches', { count: matches.length, more })
      : t('reading.placeOfMatches', { place: at + 1, count: matches.length, more });
  };
  return { matches, counted };
}
