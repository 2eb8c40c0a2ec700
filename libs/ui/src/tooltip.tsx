'use client';
import { Tooltip as Radix } from 'radix-ui';
import type { ReactElement } from 'react';

/** Put once around the application. */
export const TooltipProvider = Radix.Provider;

/** Says again what a sighted pointer user cannot read from an icon; never the only place of a fact. */
export function Tooltip({
  label,
  side = 'bottom',
  children,
}: {
  label: string;
  side?: 'top' | 'right' | 'bottom' | 'left' | undefined;
  children: ReactElement;
}) {
  return (
    <Radix.Root delayDuration={400}>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          side={side}
          sideOffset={6}
          className="z-50 max-w-72 rounded-md bg-ink px-2 py-1 text-xs text-canvas shadow-float"
        >
          {label}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
