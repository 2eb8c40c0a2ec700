'use client';
import { Badge, Button, cn, IconButton, Menu, MenuItem } from '@slipway/ui';
import { CircleAlert, Ellipsis, GitMerge, Globe, Hand, MessageCircleQuestion, ScanSearch } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { memo, useRef, useState } from 'react';
import { Ago } from '../../browser/ago.tsx';
import { Repository } from '../conversations/conversation-row.tsx';
import { useSession } from '../session/me.ts';
import { AllowHere } from './allow-here.tsx';
import { answerHereOf } from './answer-here.ts';
import { ApproveHere, ReplyHere } from './desk-answer.tsx';
import type { DeskLine } from './desk-store.ts';
import { ACTION_WORDS, addressOf, askedWords, estimateWords, KIND_WORDS } from './desk-words.ts';
import type { DeskChange } from './use-desk-marks.ts';

const ICONS = {
  approve: Hand,
  allow: Globe,
  answer: MessageCircleQuestion,
  review: ScanSearch,
  unblock: CircleAlert,
  merge: GitMerge,
};

/** One conversation that waits for a decision: the dearest of what waits in it, and the way there. */
export const DeskRow = memo(function DeskRow({
  line,
  change,
}: {
  line: DeskLine;
  change: (line: DeskLine, change: DeskChange) => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const [unfolded, setUnfolded] = useState<string | null>(null);
  const unfolds = useRef<HTMLButtonElement>(null);
  const [decision, ...others] = line.decisions;
  if (decision === undefined) return null;
  const { facts, mayDecide } = line;
  const here = answerHereOf(line);
  // What is asked next is folded again: nothing written or read belongs to it.
  const isUnfolded = here !== null && unfolded === decision.key;
  const fold = () => {
    setUnfolded(null);
    unfolds.current?.focus();
  };
  const { kind, seconds } = decision;
  const Icon = ICONS[kind];
  const label = t(mayDecide === 'yes' && here !== 'reply' ? ACTION_WORDS[kind] : 'deskPage.open');
  const answerWords = t(here === 'reply' ? 'deskPage.reply' : 'deskPage.answerHere');
  return (
    <li
      data-desk-line={facts.id}
      className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-3 focus-within:bg-raised"
    >
      <div className="flex min-w-0 flex-1 basis-72 flex-col gap-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-ink-muted">
          <span className="flex items-center gap-1 font-medium text-ink">
            <Icon aria-hidden className="size-3.5 text-warn" /> {t(KIND_WORDS[kind])}
          </span>
          {kind === 'approve' && facts.approval?.risk === 'HIGH' ? (
            <Badge tone="bad">{t('deskPage.highRisk')}</Badge>
          ) : null}
          {others.length === 0 ? null : <span>{t('deskPage.moreWaits', { count: others.length })}</span>}
          <Ago at={facts.since} />
          <span>{t('deskPage.about', { time: estimateWords(t, seconds) })}</span>
        </p>
        {isUnfolded && here !== 'reply' ? null : (
          <p dir="auto" className={cn('line-clamp-2 text-sm break-words', kind === 'approve' && 'font-mono text-xs')}>
            {askedWords(t, line, decision)}
          </p>
        )}
        <p className="flex min-w-0 items-center gap-3 text-xs text-ink-muted">
          <span dir="auto" className="min-w-0 truncate">
            {facts.title}
          </span>
          <Repository conversation={facts} />
        </p>
        {mayDecide === 'yes' ? null : (
          <p className="text-xs text-ink-muted">
            {t(mayDecide === 'four-eyes' ? 'deskPage.somebodyElseHasTo' : 'deskPage.youHaveViewAccess')}
          </p>
        )}
      </div>
      <div className="flex items-center gap-1">
        {here === null ? null : (
          <Button
            ref={unfolds}
            size="small"
            data-unfolds={here}
            aria-expanded={isUnfolded}
            aria-label={`${answerWords}: ${facts.title}`}
            onClick={() => setUnfolded(isUnfolded ? null : decision.key)}
          >
            {answerWords}
          </Button>
        )}
        <Button asChild size="small" tone={here === null ? 'plain' : 'quiet'}>
          <Link
            data-opens
            href={addressOf(org.slug, line, kind)}
            aria-label={`${label}: ${facts.title}`}
            {...(kind === 'merge' && facts.pullRequest?.url ? { target: '_blank', rel: 'noreferrer' } : {})}
          >
            {label}
          </Link>
        </Button>
        <RowMenu line={line} change={change} />
      </div>
      {!isUnfolded ? null : here === 'approve' ? (
        <ApproveHere key={decision.key} line={line} onClose={fold} />
      ) : here === 'allow' ? (
        <AllowHere key={decision.key} line={line} onClose={fold} />
      ) : (
        <ReplyHere key={decision.key} line={line} onClose={fold} />
      )}
    </li>
  );
});

/** What takes the row off one's own Desk. */
function RowMenu({ line, change }: { line: DeskLine; change: (line: DeskLine, change: DeskChange) => void }) {
  const t = useTranslations();
  return (
    <Menu
      trigger={
        <IconButton label={t('common.actionsOf', { name: line.facts.title })} size="icon-small">
          <Ellipsis aria-hidden />
        </IconButton>
      }
    >
      <MenuItem onSelect={() => change(line, 'done')}>{t('deskPage.done')}</MenuItem>
      <MenuItem onSelect={() => change(line, 'hour')}>{t('deskPage.snoozeHour')}</MenuItem>
      <MenuItem onSelect={() => change(line, 'tomorrow')}>{t('deskPage.snoozeTomorrow')}</MenuItem>
      <MenuItem onSelect={() => change(line, 'mute')}>{t('deskPage.mute')}</MenuItem>
    </Menu>
  );
}
