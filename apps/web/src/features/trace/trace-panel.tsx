'use client';
import type { ConversationTrace } from '@slipway/contracts/conversations';
import { Button, Checkbox, EmptyState, SkeletonLines } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { useMemo, useState } from 'react';
import { useAddressValue } from '../../browser/address.ts';
import { duration } from '../../browser/format.ts';
import { useMedia, WIDE } from '../../browser/media.ts';
import { useConversation } from '../conversation/conversation-context.ts';
import { Failed } from '../frame/failed.tsx';
import { PART_COLOURS } from './part-colours.ts';
import { TraceTree } from './trace-tree.tsx';
import { clockNoteOf, PART_NAMES, partsOf, summaryOf, totalsOf } from './trace-words.ts';
import { useTrace } from './use-trace.ts';

/** Where the time and the money of a conversation went: what took long in a line, then each turn as a waterfall. */
export function TracePanel() {
  const t = useTranslations();
  /** Where earlier parts began, the first at 0. */
  const [parts, setParts] = useState<readonly number[]>([0]);
  const after = parts.at(-1) ?? 0;
  const { data, error, refetch, isPlaceholderData } = useTrace(after);
  const [criticalOnly, setCriticalOnly] = useState(false);
  const shown = useMemo(
    () =>
      data === undefined || !criticalOnly
        ? data
        : { ...data, spans: data.spans.filter(({ critical }) => critical === true) },
    [data, criticalOnly],
  );
  const show = useShowInTimeline();
  if (data === undefined || shown === undefined)
    return error ? (
      <Failed error={error} retry={() => void refetch()} className="m-4" />
    ) : (
      <div role="status" aria-label={t('trace.loadingTheTrace')} className="p-4">
        <SkeletonLines />
      </div>
    );
  if (data.spans.length === 0)
    return <EmptyState title={t('trace.noTraceYet')}>{t('trace.afterTheFirstMessageIts')}</EmptyState>;
  return (
    <div className="@container flex h-full min-h-0 flex-col">
      <Head trace={data} failed={error !== null} criticalOnly={criticalOnly} setCriticalOnly={setCriticalOnly} />
      <TraceTree trace={shown} show={show} />
      {parts.length > 1 || data.nextAfter !== null ? (
        <nav
          aria-label={t('trace.partsOfTheTrace')}
          className="flex shrink-0 items-center justify-between gap-2 border-t border-line px-3 py-2 text-xs text-ink-muted"
        >
          <Button size="small" disabled={parts.length === 1} onClick={() => setParts(parts.slice(0, -1))}>
            {t('trace.earlier')}
          </Button>
          <span>{t('trace.partOfALongTrace', { count: parts.length })}</span>
          <Button
            size="small"
            disabled={data.nextAfter === null || isPlaceholderData}
            onClick={() => data.nextAfter !== null && setParts([...parts, data.nextAfter])}
          >
            {t('trace.later')}
          </Button>
        </nav>
      ) : null}
    </div>
  );
}

interface HeadProps {
  trace: ConversationTrace;
  failed: boolean;
  criticalOnly: boolean;
  setCriticalOnly: (only: boolean) => void;
}

function Head({ trace, failed, criticalOnly, setCriticalOnly }: HeadProps) {
  const t = useTranslations();
  const parts = partsOf(trace.turns);
  const clockNote = clockNoteOf(t, trace.spans);
  return (
    <section
      aria-label={t('trace.summary')}
      className="flex shrink-0 flex-col gap-1.5 border-b border-line px-4 py-3 text-sm"
    >
      <p className="font-medium">{summaryOf(t, trace)}</p>
      <p className="text-xs text-ink-muted tabular-nums">{totalsOf(t, trace.turns)}</p>
      <ul aria-label={t('trace.timeByPart')} className="flex flex-wrap gap-x-4 gap-y-1 text-xs tabular-nums">
        {parts.map(({ part, ms }) => (
          <li key={part} className="flex items-center gap-1.5">
            <span aria-hidden className={`size-2.5 rounded-sm ${PART_COLOURS[part]}`} />
            {t(PART_NAMES[part])} <span className="text-ink-muted">{duration(ms)}</span>
          </li>
        ))}
      </ul>
      <Checkbox
        label={t('trace.criticalPathOnly')}
        hint={t('trace.stepsThatDeterminedWhenA')}
        checked={criticalOnly}
        onChange={setCriticalOnly}
      />
      {clockNote === null ? null : <p className="text-xs text-warn">{clockNote}</p>}
      {trace.calls === 'log' ? <p className="text-xs text-warn">{t('trace.theModelGatewayDoesNot')}</p> : null}
      {failed ? <p className="text-xs text-warn">{t('trace.theTraceCouldNotBe')}</p> : null}
    </section>
  );
}

/** Brings the row of a position into sight. On a narrow screen the panel covers the timeline, so it gives way. */
function useShowInTimeline(): (seq: number) => void {
  const { reveal } = useConversation();
  const [, setTab] = useAddressValue('tab');
  const wide = useMedia(WIDE);
  return (seq) => {
    if (!wide) setTab(null);
    reveal.ask(seq);
  };
}
