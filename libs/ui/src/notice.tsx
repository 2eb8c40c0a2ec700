import type { ReactNode } from 'react';
import { cn } from './class-names.js';

const tones = {
  bad: { box: 'bg-bad-soft', title: 'text-bad' },
  warn: { box: 'bg-warn-soft', title: 'text-warn' },
  ok: { box: 'bg-ok-soft', title: 'text-ok' },
  plain: { box: 'bg-raised', title: 'text-ink' },
} as const;

/** A few lines within a page or a form that matter now. `bad` is read out at once. */
export function Notice({
  tone = 'plain',
  title,
  action,
  className,
  children,
}: {
  tone?: keyof typeof tones;
  title?: string;
  action?: ReactNode;
  className?: string;
  children?: ReactNode;
}) {
  return (
    <div
      role={tone === 'bad' ? 'alert' : undefined}
      className={cn(
        'flex flex-wrap items-center justify-between gap-x-4 gap-y-2 rounded-md px-3 py-2 text-sm text-ink',
        tones[tone].box,
        className,
      )}
    >
      <div className="min-w-0 break-words">
        {title ? <p className={cn('font-medium', tones[tone].title)}>{title}</p> : null}
        {children}
      </div>
      {action}
    </div>
  );
}
