import type { ReactNode } from 'react';
import { cn } from './class-names.js';

/** A part of a page with its heading, what it is for, and what can be done with the whole of it. */
export function Section({
  title,
  description,
  action,
  className,
  children,
}: {
  title: string;
  description?: ReactNode;
  action?: ReactNode;
  className?: string;
  children: ReactNode;
}) {
  return (
    <section aria-label={title} className={cn('flex flex-col gap-3', className)}>
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-2 sm:flex-nowrap">
        <div className="min-w-0">
          <h2 className="text-base font-semibold">{title}</h2>
          {description ? <div className="max-w-2xl text-sm text-ink-muted">{description}</div> : null}
        </div>
        {action}
      </div>
      {children}
    </section>
  );
}
