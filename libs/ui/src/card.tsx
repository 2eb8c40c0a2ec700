import type { ComponentProps } from 'react';
import { cn } from './class-names.js';

export function Card({ className, ...rest }: ComponentProps<'div'>) {
  return <div className={cn('rounded-lg border border-line bg-surface', className)} {...rest} />;
}

export function Kbd({ className, ...rest }: ComponentProps<'kbd'>) {
  return (
    <kbd
      className={cn(
        'inline-flex h-[18px] items-center rounded border border-current/30 px-1 font-sans text-2xs',
        className,
      )}
      {...rest}
    />
  );
}
