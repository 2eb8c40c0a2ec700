'use client';
import { Button, Field, Input, Select } from '@slipway/ui';
import { ChevronRight } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useId, useState } from 'react';
import { type Translate, translated } from '../../messages/translate.ts';
import type { Draft } from './draft.ts';

const KINDS = [
  { value: 'default', label: 'home.doTheWork' },
  { value: 'plan', label: 'home.planOnly' },
] as const;

/** Whether the agent plans or works, and where it stops to ask. Folded as long as nothing of it is said. */
export function HowFar({
  draft,
  change,
  errors,
}: {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  errors: Readonly<Record<string, string>>;
}) {
  const t = useTranslations();
  const id = useId();
  const said = wordsOf(t, draft);
  const wrong = ['agentType', 'maxIterations', 'maxBudgetUsd'].some((field) => errors[field] !== undefined);
  const [opened, setOpened] = useState<boolean | null>(null);
  const open = wrong || (opened ?? false);
  return (
    <div className="border-t border-line px-4 py-2">
      <Button
        tone="quiet"
        size="small"
        className="-ml-2"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpened(!open)}
      >
        <ChevronRight aria-hidden className={open ? 'rotate-90' : undefined} />
        {t('home.limits')}
        {said === '' || open ? null : <span className="font-normal text-ink-muted">{said}</span>}
      </Button>
      <div id={id} hidden={!open} className={open ? 'grid gap-3 pt-1 pb-1.5 sm:grid-cols-3' : undefined}>
        <Field label={t('home.agent')} error={errors['agentType'] ?? null}>
          {(control) => (
            <Select
              {...control}
              options={translated(t, KINDS)}
              value={draft.agentType}
              onChange={(value) => change({ agentType: value === 'plan' ? 'plan' : 'default' })}
            />
          )}
        </Field>
        <Field label={t('home.maxStepsPerMessage')} error={errors['maxIterations'] ?? null}>
          {(control) => (
            <Input
              {...control}
              inputMode="numeric"
              autoComplete="off"
              placeholder={t('home.organizationLimit')}
              value={draft.maxIterations}
              onChange={(event) => change({ maxIterations: event.target.value })}
            />
          )}
        </Field>
        <Field label={t('home.budgetUsd')} error={errors['maxBudgetUsd'] ?? null}>
          {(control) => (
            <Input
              {...control}
              inputMode="decimal"
              autoComplete="off"
              placeholder={t('home.noLimit')}
              value={draft.maxBudgetUsd}
              onChange={(event) => change({ maxBudgetUsd: event.target.value })}
            />
          )}
        </Field>
      </div>
    </div>
  );
}

function wordsOf(t: Translate, { agentType, maxIterations, maxBudgetUsd }: Draft): string {
  const parts = [
    ...(agentType === 'plan' ? [t('home.planOnly2')] : []),
    ...(maxIterations.trim() === '' ? [] : [t('home.maxSteps', { maxIterations: maxIterations.trim() })]),
    ...(maxBudgetUsd.trim() === '' ? [] : [t('home.max', { budget: `$${maxBudgetUsd.trim().replace(/^\$\s*/, '')}` })]),
  ];
  return parts.join(', ');
}
