'use client';
import { cn } from '@slipway/ui';
import { ChevronRight } from 'lucide-react';
import { type ReactNode, useId, useSyncExternalStore } from 'react';
import { useConversation } from '../conversation-context.ts';

/**
 * Opened or closed by the user or what led here, else as the row itself begins: a failed command opens by itself when
 * it fails.
 */
export function useOpen(key: string, startsOpen: boolean): [boolean, () => void] {
  const { openRows } = useConversation();
  const chosen = () => openRows.get(key);
  const open = useSyncExternalStore(openRows.subscribe, chosen, chosen) ?? startsOpen;
  return [open, () => openRows.set(key, !open)];
}

/** A line that opens. `aside` stands at its right end. */
export function Disclosure({
  rowKey,
  startsOpen = false,
  icon,
  label,
  aside,
  children,
  className,
}: {
  rowKey: string;
  startsOpen?: boolean;
  icon: ReactNode;
  label: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  const [open, toggle] = useOpen(rowKey, startsOpen);
  const id = useId();
  return (
    <div className={className}>
      <button
        type="button"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={toggle}
        className="flex min-h-8 w-full items-center gap-2 rounded-md px-1.5 text-left text-sm text-ink-muted hover:bg-raised hover:text-ink touch:min-h-11"
      >
        <ChevronRight aria-hidden className={cn('size-3.5 shrink-0 transition-transform', open && 'rotate-90')} />
        {icon === null ? null : <span className="grid size-4 shrink-0 place-items-center [&_svg]:size-4">{icon}</span>}
        <span className="min-w-0 flex-1 truncate">{label}</span>
        {aside}
      </button>
      {open ? (
        <div id={id} className="mt-1 mb-2 ml-[22px]">
          {children}
        </div>
      ) : null}
    </div>
  );
}
