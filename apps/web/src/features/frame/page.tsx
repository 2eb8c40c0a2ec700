import { cn } from '@slipway/ui';
import type { ReactNode } from 'react';

/** One column with a heading: the shape of every page of admin and settings. Scrolls by itself. */
export function Page({
  title,
  description,
  action,
  narrow = false,
  children,
}: {
  title: string;
  /** A sentence or two on what this is. */
  description?: ReactNode;
  /** The page's one primary action. */
  action?: ReactNode;
  /** For a page that is a form: shorter lines. */
  narrow?: boolean;
  children: ReactNode;
}) {
  return (
    <div className="h-full overflow-auto">
      <div className={cn('flex w-full flex-col gap-6 px-4 py-6 md:px-8', narrow ? 'max-w-3xl' : 'max-w-6xl')}>
        <header className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3 md:flex-nowrap">
          <div className="min-w-0">
            <h1 className="text-xl font-semibold">{title}</h1>
            {description ? <div className="max-w-2xl text-sm text-ink-muted">{description}</div> : null}
          </div>
          {action ? <div className="shrink-0">{action}</div> : null}
        </header>
        {children}
      </div>
    </div>
  );
}
