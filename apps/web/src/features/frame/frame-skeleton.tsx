import { AfterDelay, Skeleton } from '@slipway/ui';

/** The frame without anything in it, once a wait is worth showing. */
export function FrameSkeleton() {
  return (
    <main aria-busy="true" aria-label="Loading" className="h-dvh p-6">
      <AfterDelay>
        <div className="flex flex-col gap-3">
          <Skeleton className="h-7 w-56" />
          <Skeleton className="h-24 w-full max-w-3xl" />
          <Skeleton className="h-9 w-full max-w-3xl" />
          <Skeleton className="h-9 w-full max-w-3xl" />
        </div>
      </AfterDelay>
    </main>
  );
}
