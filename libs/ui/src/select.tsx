import { ChevronDown } from 'lucide-react';
import type { ComponentProps } from 'react';
import { cn } from './class-names.js';

export interface SelectOption {
  readonly value: string;
  readonly label: string;
}

/**
 * The browser's own control in our style: its list is the platform's, on a phone too, and reads well to every screen
 * reader.
 */
export function Select({
  options,
  onChange,
  className,
  ...rest
}: Omit<ComponentProps<'select'>, 'onChange' | 'children'> & {
  options: readonly SelectOption[];
  onChange: (value: string) => void;
}) {
  return (
    <span className={cn('relative block min-w-0', className)}>
      <select
        {...rest}
        onChange={(event) => onChange(event.target.value)}
        className="h-8 w-full min-w-0 cursor-pointer appearance-none truncate rounded-md border border-line-strong bg-surface pr-9 pl-3 text-left text-sm text-ink hover:bg-raised disabled:cursor-not-allowed disabled:opacity-55 touch:h-11 touch:text-[16px]"
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} className="bg-surface text-ink">
            {option.label}
          </option>
        ))}
      </select>
      <ChevronDown
        aria-hidden
        className="pointer-events-none absolute top-1/2 right-2.5 size-4 -translate-y-1/2 text-ink-muted"
      />
    </span>
  );
}
