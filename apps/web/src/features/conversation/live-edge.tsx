'use client';
import { Spinner } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { useDeferredValue } from 'react';
import { useConversation, useSlice, useView } from './conversation-context.ts';
import { progressLines } from './live-text.ts';
import { Markdown } from './markdown.tsx';
import { WhyStill } from './stillness/why-still.tsx';

/** Below the last row: what is being done, and why nothing moves where nothing does. */
export function EndOfRows({ working }: { working: boolean }) {
  return (
    <>
      <LiveEdge shown={working} />
      <WhyStill />
    </>
  );
}

/**
 * The end of the timeline: text that is being written, or that the agent is at work. The only part that streaming
 * renders.
 */
function LiveEdge({ shown }: { shown: boolean }) {
  const t = useTranslations();
  const { store, openRows } = useConversation();
  const live = useDeferredValue(useSlice(store.live));
  const busyStep = useView((view) => view.timeline.open.length > 0);
  if (!shown) return null;
  const content = live?.content ?? '';
  if (content !== '')
    return (
      <div className="py-2.5">
        <Markdown text={content} streaming />
      </div>
    );
  if (live !== null && live.reasoning !== '')
    return (
      <div className="py-2">
        <Working label={t('conversation.thinking')} />
        <p className="mt-1 line-clamp-3 border-l-2 border-line pl-3 text-sm whitespace-pre-wrap text-ink-muted">
          {live.reasoning.slice(-400)}
        </p>
      </div>
    );
  // An open row shows all of it.
  if (live !== null && live.progress !== '' && openRows.get(live.responseId) !== true)
    return (
      <div className="py-2">
        <Working label={t('conversation.runningATool')} />
        <div className="mt-1 border-l-2 border-line pl-3 text-sm text-ink-muted tabular-nums">
          {progressLines(live.progress).map((line, index, { length }) => (
            // The latest is whole: how far it is stands at its end.
            // biome-ignore lint/suspicious/noArrayIndexKey: the places stay, the lines move through them.
            <p key={index} className={index === length - 1 ? 'line-clamp-4 break-words' : 'truncate'}>
              {line}
            </p>
          ))}
        </div>
      </div>
    );
  return busyStep ? null : <Working label={t('common.working')} />;
}

function Working({ label }: { label: string }) {
  return (
    <p className="flex items-center gap-2 py-2 text-sm text-ink-muted">
      <Spinner className="size-3.5" /> {label}
    </p>
  );
}
