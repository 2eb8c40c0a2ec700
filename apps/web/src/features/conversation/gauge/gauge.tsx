'use client';
import { cn, Popover } from '@slipway/ui';
import { TriangleAlert } from 'lucide-react';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import { money, number } from '../../../browser/format.ts';
import type { MessageKey } from '../../../messages/translate.ts';
import { useView } from '../conversation-context.ts';
import { useSpent } from '../use-spent.ts';
import { type Fill, fillOf, percentOf } from './fill.ts';

const COLOURS: Record<Fill['level'], string> = {
  free: 'text-accent',
  filling: 'text-warn',
  'nearly-full': 'text-bad',
};
const WORDS: Record<Fill['level'], MessageKey | null> = {
  free: null,
  filling: 'conversation.fillingUp',
  'nearly-full': 'conversation.nearlyFull',
};

/** How full the model's context is and what the conversation cost, in one line of the header; opened, in figures. */
export function Gauge() {
  const t = useTranslations();
  const { costUsd: cost, promptTokens, completionTokens } = useSpent();
  const budget = useView((view) => view.runSettings.maxBudgetUsd);
  const context = useView((view) => view.context);
  const ofContext = context === null ? null : fillOf(context.used, context.window);
  const ofBudget = fillOf(cost, budget === null ? null : Number(budget));
  const costWords =
    budget === null ? money(cost) : `${money(cost)}${t('conversation.of', { budget: money(Number(budget)) })}`;
  const isTight = [ofContext, ofBudget].some((fill) => fill !== null && fill.level !== 'free');
  return (
    <Popover
      label={t('conversation.contextAndCost')}
      trigger={
        <button
          type="button"
          className="-mx-1 inline-flex min-h-6 shrink-0 cursor-pointer items-center gap-1.5 rounded-sm px-1 tabular-nums hover:bg-raised hover:text-ink touch:min-h-9"
        >
          {ofContext === null ? null : (
            <>
              <Ring fill={ofContext} />
              <span>
                <span className="sr-only">{t('conversation.context')} </span>
                {t('conversation.percent', { percent: percentOf(ofContext.share) })}
              </span>
              <span aria-hidden>·</span>
            </>
          )}
          <span>
            <span className="sr-only">{t('conversation.cost')} </span>
            {costWords}
          </span>
          {isTight ? (
            <>
              <TriangleAlert aria-hidden className="size-3.5 text-warn" />
              <span className="sr-only">{t('conversation.nearItsLimit')}</span>
            </>
          ) : null}
        </button>
      }
    >
      <dl className="flex flex-col gap-3">
        <Line name={t('conversation.context')} fill={ofContext}>
          {context === null
            ? t('conversation.contextNotKnown')
            : t('conversation.tokensOf', { used: number(context.used), window: number(context.window) })}
        </Line>
        <Line name={t('conversation.cost')} fill={ofBudget}>
          {budget === null ? `${costWords}, ${t('conversation.noBudget')}` : costWords}
        </Line>
        <Line name={t('conversation.tokensSoFar')} fill={null}>
          {t('conversation.tokensReadWritten', { prompt: number(promptTokens), completion: number(completionTokens) })}
        </Line>
      </dl>
    </Popover>
  );
}

function Line({ name, fill, children }: { name: string; fill: Fill | null; children: ReactNode }) {
  const t = useTranslations();
  const word = fill === null ? null : WORDS[fill.level];
  return (
    <div>
      <dt className="text-xs text-ink-muted">{name}</dt>
      <dd className="tabular-nums">
        {children}
        {fill === null ? null : (
          <span className="mt-1 flex items-center gap-2 text-xs text-ink-muted">
            <span aria-hidden className="h-1.5 flex-1 overflow-hidden rounded-full bg-raised">
              <span
                className={cn('block h-full rounded-full bg-current', COLOURS[fill.level])}
                style={{ width: `${fill.share * 100}%` }}
              />
            </span>
            {t('conversation.percent', { percent: percentOf(fill.share) })}
            {word === null ? null : (
              <span className="flex items-center gap-1 font-medium text-ink">
                <TriangleAlert aria-hidden className={cn('size-3.5', COLOURS[fill.level])} /> {t(word)}
              </span>
            )}
          </span>
        )}
      </dd>
    </div>
  );
}

/** Circumference of the ring. Units of its picture. */
const AROUND = 2 * Math.PI * 6;

function Ring({ fill }: { fill: Fill }) {
  return (
    <svg aria-hidden viewBox="0 0 16 16" className={cn('size-4 -rotate-90', COLOURS[fill.level])}>
      <circle cx="8" cy="8" r="6" fill="none" strokeWidth="3" className="stroke-line-strong" />
      <circle
        cx="8"
        cy="8"
        r="6"
        fill="none"
        stroke="currentColor"
        strokeWidth="3"
        strokeDasharray={`${fill.share * AROUND} ${AROUND}`}
      />
    </svg>
  );
}
