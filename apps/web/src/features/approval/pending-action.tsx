'use client';
import { cn } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { CopyButton } from '../../browser/copy-button.tsx';
import { LongText } from '../conversation/long-text.tsx';
import { DiffLines } from '../conversation/rows/diff-lines.tsx';
import { visibleText } from '../conversation/visible-text.ts';
import { type ActionPart, actionAsText, actionParts } from './action-text.ts';
import { Facts } from './facts.tsx';
import type { Pending } from './pending.ts';

interface PendingActionProps {
  readonly pending: Pending;
  /** `2 of 3`; absent for a single one. */
  readonly place?: string | undefined;
  /** Why it is not to happen, maybe without words; `null`: it is. */
  readonly rejected: string | null;
  /** Absent: this action is not decided by itself. */
  readonly decide?: ((rejected: string | null) => void) | undefined;
  /** Fires with the id when all of the action is on the page. */
  readonly onWhole: (id: string) => void;
}

/** One action that waits: its own words first, whole, then what speaks against it, and its own decision. */
export function PendingAction({ pending, place, rejected, decide, onWhole }: PendingActionProps) {
  const t = useTranslations();
  const { id, step, tool, summary } = pending;
  const parts = useMemo(() => actionParts(t, step), [step, t]);
  const [there, setThere] = useState<ReadonlySet<string>>(new Set());
  const arrived = useCallback(
    (label: string) => setThere((before) => (before.has(label) ? before : new Set([...before, label]))),
    [],
  );
  const whole = parts.every((part) => part.kind === 'diff' || there.has(part.label));
  useEffect(() => {
    if (whole) onWhole(id);
  }, [whole, id, onWhole]);
  return (
    <li className="flex flex-col gap-1.5 border-t border-line pt-3 first:border-0 first:pt-0">
      <div className="flex items-start gap-2">
        {place === undefined ? null : <span className="pt-0.5 text-xs font-medium text-ink tabular-nums">{place}</span>}
        <p className="min-w-0 flex-1 text-sm font-medium text-ink [overflow-wrap:anywhere]" dir="auto">
          {summary ?? t('approval.toolWants', { tool })}
        </p>
        <CopyButton label={t('approval.copyAction')} text={() => actionAsText(parts)} className="shrink-0" />
      </div>
      {parts.length === 0 ? (
        <p className="text-xs text-ink-muted">{t('approval.noArguments')}</p>
      ) : (
        parts.map((part) => <Part key={part.label} part={part} onThere={arrived} />)
      )}
      <Facts pending={pending} />
      {decide === undefined ? null : <Decision of={`${place}`} rejected={rejected} decide={decide} />}
    </li>
  );
}

function Part({ part, onThere }: { part: ActionPart; onThere: (label: string) => void }) {
  const t = useTranslations();
  const there = useCallback(() => onThere(part.label), [onThere, part.label]);
  return (
    <figure aria-label={part.label} className="overflow-hidden rounded-md border border-line bg-term">
      {part.label === 'Command' ? null : (
        <figcaption className="border-b border-line px-2.5 py-1 font-mono text-xs text-ink-muted [overflow-wrap:anywhere]">
          {visibleText(part.label)}
        </figcaption>
      )}
      <div className="py-1.5 font-mono text-xs leading-[18px]">
        {part.kind === 'diff' ? (
          part.lines.length === 0 ? (
            <p className="px-3 text-ink-muted">{t('approval.emptyFile')}</p>
          ) : (
            <DiffLines lines={part.lines.map((line) => ({ ...line, text: visibleText(line.text) }))} wrap />
          )
        ) : (
          <LongText
            text={part.text}
            unfolded
            dir="ltr"
            render={visibleText}
            onComplete={there}
            className="px-2.5 whitespace-pre-wrap [overflow-wrap:anywhere]"
          />
        )}
      </div>
    </figure>
  );
}

/** Approve or reject one of several. */
function Decision({
  of,
  rejected,
  decide,
}: {
  of: string;
  rejected: string | null;
  decide: (rejected: string | null) => void;
}) {
  const t = useTranslations();
  return (
    <div className="flex flex-wrap items-center gap-2">
      <fieldset className="inline-flex overflow-hidden rounded-md border border-line-strong text-xs">
        <legend className="sr-only">{t('approval.action', { of })}</legend>
        {([false, true] as const).map((no) => {
          const chosen = (rejected !== null) === no;
          return (
            <label
              key={String(no)}
              className={cn(
                'flex h-7 cursor-pointer items-center px-2.5 font-medium has-focus-visible:outline-2 has-focus-visible:-outline-offset-2 has-focus-visible:outline-accent touch:h-11 touch:px-4',
                no && 'border-l border-line-strong',
                chosen ? (no ? 'bg-bad-soft text-bad' : 'bg-ok-soft text-ok') : 'bg-surface text-ink-muted',
              )}
            >
              <input
                type="radio"
                name={`decision-${of}`}
                className="sr-only"
                checked={chosen}
                onChange={() => decide(no ? '' : null)}
              />
              {no ? t('approval.reject2') : t('approval.approve')}
            </label>
          );
        })}
      </fieldset>
      {rejected === null ? null : (
        <label className="min-w-0 flex-1 basis-52">
          <span className="sr-only">{t('approval.reasonForRejectingAction', { of })}</span>
          <input
            value={rejected}
            maxLength={2000}
            dir="auto"
            onChange={(event) => decide(event.target.value)}
            placeholder={t('approval.reasonAndWhatToDoInstead')}
            className="h-7 w-full rounded-md border border-line-strong bg-surface px-2.5 text-xs touch:h-11 touch:text-[16px]"
          />
        </label>
      )}
    </div>
  );
}
