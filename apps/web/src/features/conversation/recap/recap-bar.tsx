'use client';
import { Button, IconButton, Kbd } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import { asAgo } from '../../../browser/ago.tsx';
import { number } from '../../../browser/format.ts';
import { keysOf } from '../../commands/bindings.ts';
import { useCommand, useCommandContext } from '../../commands/command-context.tsx';
import { displayOf } from '../../commands/press.ts';
import { useConversation } from '../conversation-context.ts';
import { rowIndexOf } from '../use-reveal.ts';
import { nextPlace, recapWords } from './recap-words.ts';

/**
 * What came between this user's last look and the opening of the page, and a walk over its rows. Nothing where they
 * never looked, nothing came, or the server does not answer: the log below has it all.
 */
export function RecapBar() {
  const t = useTranslations();
  const { store, orgId, conversation, reveal } = useConversation();
  const { id, readSeq, readAt, head } = conversation;
  const { keys } = useCommandContext();
  const [dismissed, setDismissed] = useState(false);
  /** Place of the row that was gone to; -1: none yet. */
  const [place, setPlace] = useState(-1);
  const { data: recap } = useQuery({
    queryKey: ['recap', orgId, id, readSeq],
    queryFn: ({ signal }) => api.getRecap({ org: orgId, conversation: id, query: { after: readSeq }, signal }),
    enabled: readSeq > 0 && readSeq < head,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const rows = recap?.rows ?? [];
  const shown = rows.length > 0 && !dismissed;
  const rowOf = (seq: number): string | null => {
    const { firstSeq, timeline } = store.view.get();
    return seq < firstSeq ? null : (timeline.rows[rowIndexOf(timeline.rows, { seq, stepId: null })]?.key ?? null);
  };
  const go = () => {
    const next = nextPlace(rows, place, rowOf);
    const seq = rows[next];
    if (seq === undefined) return setDismissed(true);
    setPlace(next);
    reveal.ask(seq);
  };
  useCommand('recap.next', shown ? go : null);
  if (recap === undefined || !shown) return null;
  const key = keysOf('recap.next', keys);
  const last = place >= 0 && nextPlace(rows, place, rowOf) >= rows.length;
  const list = recapWords(t, recap).join(', ');
  return (
    <section
      aria-label={t('reading.recap')}
      // Where a card leaves the log hardly any room, the card comes first.
      className="pointer-events-auto w-full [@container_(height<10rem)]:hidden max-w-3xl rounded-md border border-line bg-surface py-1 pr-1 pl-3 text-sm shadow-float"
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <p className="min-w-0 flex-1 basis-60 tabular-nums">
          {readAt === null
            ? t('reading.recapSinceYouLooked', { list })
            : t.rich('reading.recapSinceYouLookedAgo', { at: readAt, list, ago: asAgo })}
          {recap.after > readSeq ? ` ${t('reading.recapNewest', { count: number(recap.upto - recap.after) })}` : null}
        </p>
        <div className="ml-auto flex items-center gap-1.5">
          {place < 0 ? null : (
            <span className="text-xs text-ink-muted tabular-nums">
              {t('reading.recapPlace', { place: place + 1, count: rows.length })}
            </span>
          )}
          <Button size="small" onClick={go}>
            {place < 0 ? t('reading.recapCatchUp') : last ? t('reading.recapDone') : t('reading.recapNext')}
            {key === null
              ? null
              : displayOf(key).map((press) => (
                  <Kbd key={press} className="max-sm:hidden">
                    {press}
                  </Kbd>
                ))}
          </Button>
          <IconButton label={t('reading.recapHide')} size="icon-small" onClick={() => setDismissed(true)}>
            <X aria-hidden />
          </IconButton>
        </div>
      </div>
    </section>
  );
}
