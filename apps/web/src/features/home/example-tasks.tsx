'use client';
import { Button } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { useFlag } from '../analytics/use-flag.ts';
import { useReport } from '../analytics/use-report.ts';
import { EXAMPLES } from './examples.ts';

/** First tasks to choose from: buttons, or cards that show what the agent is asked (flag `example-tasks`). */
export function ExampleTasks({ choose }: { choose: (prompt: string) => void }) {
  const t = useTranslations();
  const looks = useFlag('example-tasks');
  const report = useReport();
  const pick = (prompt: string, index: number): void => {
    choose(prompt);
    report({ name: 'example_task_chosen', position: index + 1 });
  };
  return (
    <fieldset className={looks === 'cards' ? 'grid gap-2 sm:grid-cols-3' : 'flex flex-wrap gap-2'}>
      <legend className="sr-only">{t('home.exampleTasks')}</legend>
      {EXAMPLES.map(({ label, prompt }, index) =>
        looks === 'cards' ? (
          <button
            key={label}
            type="button"
            onClick={() => pick(t(prompt), index)}
            className="flex flex-col gap-1 rounded-lg border border-line bg-surface p-3 text-left hover:border-line-strong"
          >
            <span className="text-sm font-medium">{t(label)}</span>
            <span className="text-xs text-ink-muted">{t(prompt)}</span>
          </button>
        ) : (
          <Button key={label} size="small" onClick={() => pick(t(prompt), index)}>
            {t(label)}
          </Button>
        ),
      )}
    </fieldset>
  );
}
