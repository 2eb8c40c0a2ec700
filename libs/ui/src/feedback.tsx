'use client';
import { type ReactNode, useEffect, useState } from 'react';
import { cn } from './class-names.js';

/** How long a wait is before it is worth showing. Milliseconds. */
const SKELETON_DELAY_MS = 200;

/** A grey shape in place of content. */
export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={cn('rounded-md bg-raised motion-safe:animate-pulse', className)} />;
}

/** Shows its children once the wait has lasted 200 ms, so that a fast answer never flickers. */
export function AfterDelay({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SKELETON_DELAY_MS);
    return () => clearTimeout(timer);
  }, []);
  return shown ? children : null;
}

/** Three lines in place of a text or a list that is being read, once that has lasted 200 ms. */
export function SkeletonLines({ className }: { className?: string }) {
  return (
    <AfterDelay>
      <div className={cn('flex flex-col gap-2', className)}>
        <Skeleton className="h-4 w-3/4" />
        <Skeleton className="h-4 w-1/2" />
        <Skeleton className="h-4 w-2/3" />
      </div>
    </AfterDelay>
  );
}

/** How long a skeleton stays once it is seen. Milliseconds. */
const SKELETON_STAY_MS = 300;

/**
 * What to show of something that is being read: nothing for the first 200 ms, then a skeleton, and that for at least
 * 300 ms, so that neither a fast answer nor one just after the skeleton flickers.
 */
export function useSkeleton(pending: boolean): 'blank' | 'skeleton' | 'content' {
  /** When the skeleton came, on the clock of `performance.now`; `null` while there is none. */
  const [since, setSince] = useState<number | null>(null);
  useEffect(() => {
    if (pending === (since !== null)) return;
    const wait = since === null ? SKELETON_DELAY_MS : Math.max(0, since + SKELETON_STAY_MS - performance.now());
    const timer = setTimeout(() => setSince(pending ? performance.now() : null), wait);
    return () => clearTimeout(timer);
  }, [pending, since]);
  if (since !== null) return 'skeleton';
  return pending ? 'blank' : 'content';
}

/** What this place is for, and the one thing to do next. */
export function EmptyState({
  title,
  children,
  action,
  page = false,
  className,
}: {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  /** It is all that the page says: the title is then its heading. */
  page?: boolean;
  className?: string;
}) {
  const Title = page ? 'h1' : 'p';
  return (
    <div className={cn('flex flex-col items-center gap-2 px-6 py-12 text-center', className)}>
      <Title className="text-base font-medium text-ink">{title}</Title>
      {children ? <div className="max-w-md text-sm text-ink-muted">{children}</div> : null}
      {action ? <div className="pt-2">{action}</div> : null}
    </div>
  );
}

/** What failed in words, what to do, and the id to quote. Stays inside its panel: it never blanks the page. */
export function ErrorState({
  title,
  detail,
  nextStep,
  requestId,
  action,
  className,
}: {
  title: string;
  detail?: string;
  nextStep?: string;
  requestId?: string;
  action?: ReactNode;
  className?: string;
}) {
  return (
    <div
      role="alert"
      className={cn('flex flex-col items-start gap-2 rounded-lg border border-line bg-surface p-4', className)}
    >
      <p className="text-base font-medium text-bad">{title}</p>
      {detail ? <p className="text-sm break-words text-ink">{detail}</p> : null}
      {nextStep ? <p className="text-sm text-ink-muted">{nextStep}</p> : null}
      {requestId ? (
        <p className="text-xs text-ink-muted">
          Request id <code className="font-mono select-all">{requestId}</code>
        </p>
      ) : null}
      {action}
    </div>
  );
}
