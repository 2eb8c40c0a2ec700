'use client';
import { UpdateRunSettings } from '@slipway/contracts/conversations';
import { Button, Field, Input } from '@slipway/ui';
import { Gauge } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { type SyntheticEvent, useState } from 'react';
import { failureOf, failureOfCode } from '../../api/failure.ts';
import { sentenceOf } from '../../api/sentence.ts';
import { money, number } from '../../browser/format.ts';
import { useView } from '../conversation/conversation-context.ts';
import { useLifecycle } from '../conversation/use-lifecycle.ts';
import { useSession } from '../session/me.ts';
import { asMoney, causeOf, extendedBudget, extension, type Limit, limitOf } from './limit.ts';
import { showFailure, useGoOnWith } from './use-run-settings.ts';

/** Why the agent halted by itself, above the composer, with what can be done about it. */
export function LimitCard() {
  const status = useView((view) => view.status);
  const timeline = useView((view) => view.timeline);
  const limit = limitOf({ status, timeline });
  return limit === null ? null : <Halted limit={limit} key={timeline.rows.at(-1)?.key} />;
}

function Halted({ limit }: { limit: Limit }) {
  const t = useTranslations();
  const { org } = useSession();
  const live = useView((view) => view.runSettings);
  /** What it was asked to go on from: the buttons say the same until it does. */
  const [asked, setAsked] = useState<typeof live | null>(null);
  const spent = useView((view) => view.costUsd);
  const [raising, setRaising] = useState(false);
  const { stop, resume } = useLifecycle();
  const change = useGoOnWith();
  const busy =
    stop.isPending || stop.isSuccess || resume.isPending || resume.isSuccess || change.isPending || change.isSuccess;
  const settings = busy && asked !== null ? asked : live;
  const mayWrite = org.permissions.includes('conversation:write');
  const { title } = failureOfCode(limit.code);
  const own =
    limit.code === 'agent.budget-limit' ? (settings.maxBudgetUsd ?? asMoney(Math.max(1, Math.ceil(spent)))) : null;
  const extend = () => {
    setAsked(live);
    if (own === null) return resume.mutate();
    change.mutate({ maxBudgetUsd: extendedBudget(own, spent, limit.detail) }, { onError: showFailure });
  };
  return (
    <section
      aria-label={t('terms.limitReached')}
      className="shrink-0 border-t border-line bg-surface px-4 pt-3 pb-1 md:px-6"
    >
      <div className="mx-auto flex max-w-3xl flex-col gap-2.5 rounded-lg border border-line-strong bg-raised p-3">
        <div>
          <h2 className="flex items-center gap-2 text-sm font-semibold">
            <Gauge aria-hidden className="size-4 text-warn" /> {title}
          </h2>
          <p className="mt-0.5 text-sm break-words text-ink-muted">
            {t('terms.noWorkIsLost', { limit: causeOf(limit) })}
          </p>
        </div>
        {!mayWrite ? (
          <p className="text-xs text-ink-muted">{t('terms.youCanViewThisConversation')}</p>
        ) : raising && limit.code !== 'budget.exhausted' ? (
          <Raise
            limit={limit.code}
            suggested={
              own === null ? String((settings.maxIterations ?? 500) * 2) : extendedBudget(own, spent, limit.detail)
            }
            spent={spent}
            busy={busy}
            error={change.error}
            onCancel={() => setRaising(false)}
            onRaise={(raised) => change.mutate(raised)}
          />
        ) : (
          <div className="flex flex-wrap items-center gap-2">
            <Button tone="primary" busy={busy && !stop.isPending && !stop.isSuccess} disabled={busy} onClick={extend}>
              {limit.code === 'budget.exhausted'
                ? t('terms.tryAgain')
                : own !== null
                  ? t('terms.extendBy', { own: money(extension(own, spent, limit.detail)) })
                  : settings.maxIterations === null
                    ? t('terms.continueForTheSameNumber')
                    : t('terms.continueForMoreSteps', { maxIterations: number(settings.maxIterations) })}
            </Button>
            {limit.code === 'budget.exhausted' ? (
              org.permissions.includes('budget:write') ? (
                <Button asChild>
                  <Link href={`/${org.slug}/admin/budgets`}>{t('terms.viewBudgets')}</Link>
                </Button>
              ) : null
            ) : (
              <Button disabled={busy} onClick={() => setRaising(true)}>
                {t('terms.raiseLimit')}
              </Button>
            )}
            <Button tone="quiet" busy={stop.isPending} disabled={busy} onClick={() => stop.mutate()}>
              {t('terms.stopHere')}
            </Button>
          </div>
        )}
      </div>
    </section>
  );
}

function Raise({
  limit,
  suggested,
  spent,
  busy,
  error,
  onCancel,
  onRaise,
}: {
  limit: 'agent.iteration-limit' | 'agent.budget-limit';
  suggested: string;
  spent: number;
  busy: boolean;
  error: Error | null;
  onCancel: () => void;
  onRaise: (settings: UpdateRunSettings) => void;
}) {
  const t = useTranslations();
  const [value, setValue] = useState(suggested);
  const [wrong, setWrong] = useState<string | null>(null);
  const ofSteps = limit === 'agent.iteration-limit';
  const failure = error === null ? null : failureOf(error);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const parsed = UpdateRunSettings.safeParse(
      ofSteps ? { maxIterations: Number(value) } : { maxBudgetUsd: value.trim().replace(/^\$\s*/, '') },
    );
    if (!parsed.success) return setWrong(sentenceOf(t, parsed.error.issues[0]?.message ?? ''));
    if (!ofSteps && Number(parsed.data.maxBudgetUsd) <= spent)
      return setWrong(t('terms.itHasAlreadyCost', { spent: money(spent) }));
    setWrong(null);
    if (!busy) onRaise(parsed.data);
  };
  return (
    <form onSubmit={submit} noValidate className="flex flex-wrap items-end gap-2" aria-label={t('terms.raiseLimit2')}>
      <Field
        label={ofSteps ? t('terms.maxStepsPerMessage') : t('terms.budgetUsd')}
        className="min-w-40 flex-1 basis-56"
        error={wrong ?? (failure === null ? null : sentenceOf(t, failure.fields[0]?.message ?? failure.detail))}
      >
        {(control) => (
          <Input
            {...control}
            autoFocus
            inputMode={ofSteps ? 'numeric' : 'decimal'}
            value={value}
            onChange={(event) => setValue(event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" tone="primary" busy={busy}>
        {t('terms.raiseAndContinue')}
      </Button>
      <Button tone="quiet" disabled={busy} onClick={onCancel}>
        {t('common.back')}
      </Button>
    </form>
  );
}
