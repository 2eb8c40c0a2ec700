'use client';
import { Button } from '@slipway/ui';
import { CircleAlert, Gauge } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { failureOfCode } from '../../../api/failure.ts';
import { causeOf, LIMIT_CODES } from '../../run-settings/limit.ts';
import { useView } from '../conversation-context.ts';
import type { RowOf } from '../timeline-row.ts';
import { useLifecycle } from '../use-lifecycle.ts';

/** Why the run ended: code, cause and what to do. Another try is offered on the last word only. */
export function ErrorRow({ row }: { row: RowOf<'error'> }) {
  return LIMIT_CODES.has(row.code) ? <HaltRow row={row} /> : <FailureRow row={row} />;
}

/** Nothing is broken: a limit was reached, and who may go beyond it is asked above the composer. */
function HaltRow({ row }: { row: RowOf<'error'> }) {
  return (
    <p className="flex gap-2 py-2 text-sm text-ink-muted">
      <Gauge aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" />
      <span className="min-w-0 break-words">{causeOf(row) || failureOfCode(row.code).title}</span>
    </p>
  );
}

function FailureRow({ row }: { row: RowOf<'error'> }) {
  const t = useTranslations();
  const failure = failureOfCode(row.code, row.detail);
  const last = useView(
    (view) =>
      view.status === 'failed' &&
      view.timeline.rows.findLast((candidate) => candidate.kind === 'error')?.key === row.key,
  );
  const { resume } = useLifecycle();
  return (
    <div className="my-2 rounded-lg border border-line bg-bad-soft px-3.5 py-2.5 text-sm">
      <p className="flex items-center gap-2 font-medium text-bad">
        <CircleAlert aria-hidden className="size-4 shrink-0" /> {failure.title}
      </p>
      {failure.detail ? (
        <p className="mt-1 max-h-60 overflow-auto break-words whitespace-pre-wrap text-ink">{failure.detail}</p>
      ) : null}
      {failure.nextStep ? <p className="mt-1 text-ink">{failure.nextStep}</p> : null}
      <p className="mt-1 font-mono text-xs text-ink-muted">{row.code}</p>
      {last ? (
        <Button size="small" className="mt-2" busy={resume.isPending} onClick={() => resume.mutate()}>
          {t('conversation.tryAgain')}
        </Button>
      ) : null}
    </div>
  );
}
