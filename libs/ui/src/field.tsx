'use client';
import { type ComponentProps, type ReactNode, useId } from 'react';
import { cn } from './class-names.js';

const box =
  'w-full rounded-md border border-line-strong bg-surface px-3 text-sm text-ink touch:text-[16px] placeholder:text-ink-muted aria-invalid:border-bad disabled:opacity-55';

export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <input className={cn(box, 'h-8 touch:h-11', className)} {...rest} />;
}

export function Textarea({ className, ...rest }: ComponentProps<'textarea'>) {
  return <textarea className={cn(box, 'py-2 leading-[22px]', className)} {...rest} />;
}

/**
 * A labelled control with its hint or its error below; hands the control the ids that join them for a screen reader.
 */
export function Field({
  label,
  hint,
  error,
  className,
  children,
}: {
  label: string;
  hint?: ReactNode;
  error?: string | null;
  className?: string;
  children: (control: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ReactNode;
}) {
  const id = useId();
  const note = error ?? hint;
  return (
    <div className={cn('flex min-w-0 flex-col gap-1', className)}>
      <label htmlFor={id} className="text-xs font-medium text-ink-muted">
        {label}
      </label>
      {children({
        id,
        ...(note ? { 'aria-describedby': `${id}-note` } : {}),
        ...(error ? { 'aria-invalid': true as const } : {}),
      })}
      {note ? (
        <p id={`${id}-note`} className={cn('text-xs', error ? 'text-bad' : 'text-ink-muted')}>
          {note}
        </p>
      ) : null}
    </div>
  );
}
