'use client';
import { cva, type VariantProps } from 'class-variance-authority';
import { Slot } from 'radix-ui';
import type { ComponentProps, ReactNode } from 'react';
import { cn } from './class-names.js';
import { Spinner } from './spinner.js';
import { Tooltip } from './tooltip.js';

const button = cva(
  'relative inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap transition-colors select-none disabled:cursor-not-allowed disabled:opacity-55 [&_svg]:size-4 [&_svg]:shrink-0',
  {
    variants: {
      tone: {
        primary: 'border-transparent bg-accent text-on-accent hover:bg-accent-hover',
        plain: 'border-line-strong bg-surface text-ink hover:bg-raised',
        quiet: 'border-transparent bg-transparent text-ink-muted hover:bg-raised hover:text-ink',
        danger: 'border-line-strong bg-surface text-bad hover:bg-bad-soft',
      },
      size: {
        small: "h-7 px-2.5 text-xs touch:h-9 touch:after:absolute touch:after:-inset-1 touch:after:content-['']",
        medium: 'h-8 px-3 text-sm touch:h-11',
        large: 'h-10 px-4 text-base touch:h-11',
        icon: 'size-8 p-0 text-sm touch:size-11',
        'icon-small':
          "size-6 p-0 text-xs touch:size-9 touch:after:absolute touch:after:-inset-1 touch:after:content-['']",
      },
    },
    defaultVariants: { tone: 'plain', size: 'medium' },
  },
);

export type ButtonProps = ComponentProps<'button'> &
  VariantProps<typeof button> & {
    /** Renders the child element styled as a button: for links. */
    asChild?: boolean;
    /** Work is under way: the label stays, a spinner joins it, and presses are ignored. */
    busy?: boolean;
  };

export function Button({
  tone,
  size,
  asChild = false,
  busy = false,
  className,
  children,
  onClick,
  type,
  ...rest
}: ButtonProps) {
  if (asChild)
    return (
      <Slot.Root className={cn(button({ tone, size }), className)} onClick={onClick} {...rest}>
        {children}
      </Slot.Root>
    );
  return (
    <button
      type={type ?? 'button'}
      aria-busy={busy || undefined}
      className={cn(button({ tone, size }), className)}
      onClick={busy ? (event) => event.preventDefault() : onClick}
      {...rest}
    >
      {busy ? <Spinner /> : null}
      {children}
    </button>
  );
}

/** A button that is only an icon: `label` is its name and its tooltip. */
export function IconButton({
  label,
  children,
  size = 'icon',
  tone = 'quiet',
  side,
  ...rest
}: Omit<ButtonProps, 'aria-label'> & {
  label: string;
  children: ReactNode;
  side?: 'top' | 'right' | 'bottom' | 'left';
}) {
  return (
    <Tooltip label={label} side={side}>
      <Button aria-label={label} size={size} tone={tone} {...rest}>
        {children}
      </Button>
    </Tooltip>
  );
}
