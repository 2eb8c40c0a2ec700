import { type ComponentProps, type ReactNode, useId } from 'react';
import { cn } from './class-names.js';

/** A checkbox with its label and, below it, a description. The label is part of the target. */
export function Checkbox({
  label,
  hint,
  onChange,
  className,
  ...rest
}: Omit<ComponentProps<'input'>, 'type' | 'onChange'> & {
  label: ReactNode;
  hint?: ReactNode;
  onChange: (checked: boolean) => void;
}) {
  const id = useId();
  return (
    <div className={cn('flex min-w-0 items-start gap-2', className)}>
      <input
        {...rest}
        id={id}
        type="checkbox"
        aria-describedby={hint ? `${id}-note` : undefined}
        onChange={(event) => onChange(event.target.checked)}
        className="mt-[3px] size-4 shrink-0 accent-accent disabled:opacity-55 touch:mt-3 touch:size-5"
      />
      <div className="min-w-0">
        <label htmlFor={id} className="block py-px text-sm text-ink touch:py-2.5">
          {label}
        </label>
        {hint ? (
          <p id={`${id}-note`} className="text-xs text-ink-muted">
            {hint}
          </p>
        ) : null}
      </div>
    </div>
  );
}
