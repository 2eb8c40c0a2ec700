'use client';
import { cn } from '@slipway/ui';
import { Circle, CircleCheck, CircleDot, ListChecks } from 'lucide-react';
import { useTranslations } from 'next-intl';
import type { MessageKey } from '../../../messages/translate.ts';
import { Markdown } from '../markdown.tsx';
import type { RowOf, TaskItem } from '../timeline-row.ts';
import { Disclosure } from './disclosure.tsx';

const MARKS: Record<TaskItem['status'], { icon: typeof Circle; label: MessageKey; className: string }> = {
  todo: { icon: Circle, label: 'conversation.toDo', className: 'text-ink-muted' },
  in_progress: { icon: CircleDot, label: 'conversation.inProgress', className: 'text-accent' },
  done: { icon: CircleCheck, label: 'conversation.done', className: 'text-ok' },
};

/** The agent's own plan at that moment. */
export function TasksRow({ row }: { row: RowOf<'tasks'> }) {
  const t = useTranslations();
  const done = row.tasks.filter((task) => task.status === 'done').length;
  return (
    <Disclosure
      rowKey={row.key}
      startsOpen
      icon={<ListChecks aria-hidden />}
      label={t('conversation.planOfDone', { done, count: row.tasks.length })}
    >
      <ul className="flex flex-col gap-1 rounded-lg border border-line bg-surface px-3 py-2">
        {row.tasks.map((task, index) => {
          const { icon: Icon, label, className } = MARKS[task.status];
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: one plan never changes
            <li key={index} className="flex gap-2 text-sm">
              <Icon role="img" aria-label={t(label)} className={cn('mt-0.5 size-4 shrink-0', className)} />
              <div className={cn('min-w-0', task.status === 'done' && 'text-ink-muted')}>
                <Markdown text={task.title} />
                {task.notes ? (
                  <div className="text-xs text-ink-muted">
                    <Markdown text={task.notes} />
                  </div>
                ) : null}
              </div>
            </li>
          );
        })}
      </ul>
    </Disclosure>
  );
}
