'use client';
import { Check } from 'lucide-react';
import { DropdownMenu as Radix } from 'radix-ui';
import type { ReactElement, ReactNode } from 'react';
import { cn } from './class-names.js';

const item =
  'flex min-h-8 touch:min-h-11 cursor-default items-center gap-2 rounded-md px-2 text-sm text-ink outline-none select-none data-disabled:opacity-55 data-highlighted:bg-raised pointer-coarse:min-h-11 [&_svg]:size-4 [&_svg]:text-ink-muted';

export function Menu({
  trigger,
  align = 'end',
  side,
  children,
}: {
  trigger: ReactElement;
  align?: 'start' | 'end';
  side?: 'top' | 'bottom';
  children: ReactNode;
}) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          className="z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-48 overflow-y-auto rounded-lg border border-line bg-surface p-1 shadow-float"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

export function MenuItem({
  onSelect,
  disabled,
  asChild,
  className,
  children,
}: {
  onSelect?: () => void;
  disabled?: boolean;
  asChild?: boolean;
  className?: string;
  children: ReactNode;
}) {
  return (
    <Radix.Item asChild={asChild} disabled={disabled} onSelect={onSelect} className={cn(item, className)}>
      {children}
    </Radix.Item>
  );
}

/** One of several, with a mark at the one that holds. */
export function MenuChoices({
  label,
  value,
  onChange,
  choices,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  choices: readonly { value: string; label: string; icon?: ReactNode }[];
}) {
  return (
    <Radix.RadioGroup value={value} onValueChange={onChange} aria-label={label}>
      <Radix.Label className="px-2 py-1 text-xs text-ink-muted">{label}</Radix.Label>
      {choices.map((choice) => (
        <Radix.RadioItem key={choice.value} value={choice.value} className={item}>
          {choice.icon}
          <span className="flex-1">{choice.label}</span>
          <Radix.ItemIndicator>
            <Check aria-hidden />
          </Radix.ItemIndicator>
        </Radix.RadioItem>
      ))}
    </Radix.RadioGroup>
  );
}

/** Entries that belong together, under their name. Nothing where there are none. */
export function MenuGroup({ label, children }: { label: string; children: ReactNode }) {
  if (children === null) return null;
  return (
    <Radix.Group aria-label={label} className="border-line not-first:mt-1 not-first:border-t not-first:pt-1">
      <Radix.Label className="px-2 py-1 text-xs text-ink-muted">{label}</Radix.Label>
      {children}
    </Radix.Group>
  );
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return <Radix.Label className="px-2 py-1.5 text-xs text-ink-muted">{children}</Radix.Label>;
}

export function MenuSeparator() {
  return <Radix.Separator className="my-1 h-px bg-line" />;
}
