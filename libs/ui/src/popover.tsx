'use client';
import { Popover as Radix } from 'radix-ui';
import type { ReactElement, ReactNode } from 'react';

/** More about what its trigger says in short. Esc and a press outside close it; focus goes back to the trigger. */
export function Popover({ trigger, label, children }: { trigger: ReactElement; label: string; children: ReactNode }) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          aria-label={label}
          align="start"
          sideOffset={6}
          collisionPadding={8}
          className="z-50 max-h-(--radix-popover-content-available-height) w-80 max-w-[calc(100vw-1rem)] overflow-y-auto rounded-lg border border-line bg-surface p-3 text-sm shadow-float"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
