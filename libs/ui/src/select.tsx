'use client';
import { Check, ChevronDown } from 'lucide-react';
import { Select as Radix } from 'radix-ui';
import { cn } from './class-names.js';

export interface SelectOption {
  readonly value: string;
  readonly label: string;
  /** A second line that says more. */
  readonly note?: string;
}

export function Select({
  options,
  value,
  onChange,
  id,
  className,
  disabled,
  'aria-label': label,
}: {
  options: readonly SelectOption[];
  value: string;
  onChange: (value: string) => void;
  id?: string;
  className?: string;
  disabled?: boolean;
  'aria-label'?: string;
}) {
  return (
    <Radix.Root value={value} onValueChange={onChange} disabled={disabled}>
      <Radix.Trigger
        id={id}
        aria-label={label}
        className={cn(
          'flex h-8 w-full touch:h-11 min-w-0 items-center justify-between gap-2 rounded-md border border-line-strong bg-surface px-3 text-left text-sm text-ink hover:bg-raised disabled:opacity-55',
          className,
        )}
      >
        <span className="truncate">
          <Radix.Value />
        </span>
        <Radix.Icon asChild>
          <ChevronDown aria-hidden className="size-4 shrink-0 text-ink-muted" />
        </Radix.Icon>
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          position="popper"
          sideOffset={4}
          className="z-50 max-h-80 min-w-(--radix-select-trigger-width) overflow-hidden rounded-lg border border-line bg-surface p-1 shadow-float"
        >
          <Radix.Viewport>
            {options.map((option) => (
              <Radix.Item
                key={option.value}
                value={option.value}
                className="flex cursor-default items-start gap-2 rounded-md px-2 py-1.5 text-sm text-ink outline-none select-none touch:py-3 data-highlighted:bg-raised"
              >
                <span className="mt-0.5 size-4 shrink-0">
                  <Radix.ItemIndicator>
                    <Check aria-hidden className="size-4" />
                  </Radix.ItemIndicator>
                </span>
                <span className="flex flex-col">
                  <Radix.ItemText>{option.label}</Radix.ItemText>
                  {option.note ? <span className="text-xs text-ink-muted">{option.note}</span> : null}
                </span>
              </Radix.Item>
            ))}
          </Radix.Viewport>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
