'use client';
import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import { type ReactNode, useRef } from 'react';
import { Button } from './button.js';
import { cn } from './class-names.js';

interface OverlayProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  /** A sentence under the title. */
  description?: string;
  className?: string;
  children: ReactNode;
}

/**
 * Opened by the caller's state and not by a trigger of its own, so it remembers by itself where the focus came from.
 */
function Overlay({
  open,
  onOpenChange,
  title,
  description,
  className,
  placement,
  children,
}: OverlayProps & { placement: string }) {
  const opener = useRef<Element | null>(null);
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/45" />
        <Radix.Content
          tabIndex={-1}
          // The field that is marked, else the panel itself, not its first button: what it is called is read out, and
          // no ring stands on Close.
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            opener.current = document.activeElement;
            const panel = event.currentTarget as HTMLElement;
            (panel.querySelector<HTMLElement>('[data-autofocus]') ?? panel).focus();
          }}
          // A terminal or an editor has a use of its own for the key.
          onEscapeKeyDown={(event) => {
            if (document.activeElement?.closest('[data-keeps-escape]')) event.preventDefault();
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            if (opener.current instanceof HTMLElement) opener.current.focus();
          }}
          {...(description ? {} : { 'aria-describedby': undefined })}
          className={cn(
            'fixed z-50 flex flex-col border-line bg-surface shadow-float outline-none',
            placement,
            className,
          )}
        >
          <header className="flex items-center justify-between gap-3 border-b border-line px-4 py-2">
            <div className="min-w-0">
              <Radix.Title className="truncate text-base font-semibold text-ink">{title}</Radix.Title>
              {description ? (
                <Radix.Description className="text-sm text-ink-muted">{description}</Radix.Description>
              ) : null}
            </div>
            <Radix.Close asChild>
              <Button tone="quiet" size="icon" aria-label="Close">
                <X aria-hidden />
              </Button>
            </Radix.Close>
          </header>
          <div className="min-h-0 flex-1 overflow-auto">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/**
 * A question in the middle of the screen. `Esc` closes it and focus goes back to where it came from. A field with
 * `data-autofocus` has the focus first.
 */
export function Dialog(props: OverlayProps) {
  return (
    <Overlay
      placement="top-1/2 left-1/2 w-[min(480px,calc(100vw-32px))] max-h-[85dvh] -translate-x-1/2 -translate-y-1/2 rounded-xl border"
      {...props}
    />
  );
}

/** A panel from the bottom (phone) or the side. `Esc` closes it, but for within `data-keeps-escape`. */
export function Sheet({ side = 'bottom', ...props }: OverlayProps & { side?: 'bottom' | 'left' }) {
  const placement =
    side === 'bottom'
      ? 'inset-x-0 bottom-0 h-[88dvh] rounded-t-xl border-t'
      : 'inset-y-0 left-0 w-[min(300px,85vw)] border-r';
  return <Overlay placement={placement} {...props} />;
}
