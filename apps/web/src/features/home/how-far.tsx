'use client';
import { Button, Field, Input, Select } from '@slipway/ui';
import { ChevronRight } from 'lucide-react';
import { useId, useState } from 'react';
import type { Draft } from './draft.ts';

const KINDS = [
  { value: 'default', label: 'Do the work' },
  { value: 'plan', label: 'Plan first, change nothing' },
] as const;

/** Whether the agent plans or works, and where it stops to ask. Folded as long as nothing of it is said. */
export function HowFar({ draft, change, errors }: { draft: Draft; change: (part: Partial<Draft>) => void; errors: Readonly<Record<string, string>> }) {
  const id = useId();
  const said = wordsOf(draft);
  const wrong = ['agentType', 'maxIterations', 'maxBudgetUsd'].some((field) => errors[field] !== undefined);
  const [opened, setOpened] = useState<boolean | null>(null);
  const open = wrong || (opened ?? false);
  return (
    <div className="border-t border-line px-4 py-2">
      <Button tone="quiet" size="small" className="-ml-2" aria-expanded={open} aria-controls={id} onClick={() => setOpened(!open)}>
        <ChevronRight aria-hidden className={open ? 'rotate-90' : undefined} />
        How far it goes
        {said === '' || open ? null : <span className="font-normal text-ink-muted">{said}</span>}
      </Button>
      <div id={id} hidden={!open} className={open ? 'grid gap-3 pt-1 pb-1.5 sm:grid-cols-3' : undefined}>
        <Field label="Agent" error={errors['agentType'] ?? null}>
          {(control) => (
            <Select {...control} options={KINDS} value={draft.agentType} onChange={(value) => change({ agentType: value === 'plan' ? 'plan' : 'default' })} />
          )}
        </Field>
        <Field label="Steps for one message" error={errors['maxIterations'] ?? null}>
          {(control) => (
            <Input
              {...control}
              inputMode="numeric"
              autoComplete="off"
              placeholder="as many as allowed"
              value={draft.maxIterations}
              onChange={(event) => change({ maxIterations: event.target.value })}
            />
          )}
        </Field>
        <Field label="It may cost, in USD" error={errors['maxBudgetUsd'] ?? null}>
          {(control) => (
            <Input
              {...control}
              inputMode="decimal"
              autoComplete="off"
              placeholder="no limit of its own"
              value={draft.maxBudgetUsd}
              onChange={(event) => change({ maxBudgetUsd: event.target.value })}
            />
          )}
        </Field>
      </div>
    </div>
  );
}

function wordsOf({ agentType, maxIterations, maxBudgetUsd }: Draft): string {
  const parts = [
    ...(agentType === 'plan' ? ['plans first'] : []),
    ...(maxIterations.trim() === '' ? [] : [`at most ${maxIterations.trim()} steps`]),
    ...(maxBudgetUsd.trim() === '' ? [] : [`at most $${maxBudgetUsd.trim().replace(/^\$\s*/, '')}`]),
  ];
  return parts.join(', ');
}
