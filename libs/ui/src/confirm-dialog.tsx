'use client';
import { type ReactNode, type SyntheticEvent, useId, useState } from 'react';
import { Button } from './button.js';
import { Input } from './field.js';
import { Dialog } from './sheet.js';

interface ConfirmDialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  /** What happens, in words, above the buttons. */
  children: ReactNode;
  /** The verb, as the button says it. */
  confirmLabel: string;
  /** Of what takes nothing away. */
  tone?: 'danger' | 'primary';
  /** The text that must be typed first, for what cannot be taken back easily. */
  typed?: string;
  busy?: boolean;
  /** Not yet: what it does is still being read. */
  disabled?: boolean;
  onConfirm: () => void;
}

/** Confirms an action that cannot be undone. Stays open until the caller closes it, so that it can show a failure. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  return (
    <Dialog open={props.open} onOpenChange={props.onOpenChange} title={props.title}>
      <Question {...props} />
    </Dialog>
  );
}

/** Mounted with the open dialog, so that what was typed is forgotten when it closes. */
function Question({
  onOpenChange,
  children,
  confirmLabel,
  tone = 'danger',
  typed,
  busy = false,
  disabled = false,
  onConfirm,
}: ConfirmDialogProps) {
  const id = useId();
  const [text, setText] = useState('');
  const allowed = !disabled && (typed === undefined || text.trim() === typed);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (allowed && !busy) onConfirm();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4 p-4">
      <div className="flex flex-col gap-2 text-sm text-ink">{children}</div>
      {typed === undefined ? null : (
        <div className="flex flex-col gap-1">
          <label htmlFor={id} className="text-sm text-ink-muted">
            Type <strong className="font-mono font-semibold break-all text-ink select-all">{typed}</strong> to go on
          </label>
          <Input
            id={id}
            data-autofocus
            value={text}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setText(event.target.value)}
          />
        </div>
      )}
      <div className="flex justify-end gap-2">
        <Button onClick={() => onOpenChange(false)}>Cancel</Button>
        <Button type="submit" tone={tone} busy={busy} disabled={!allowed}>
          {confirmLabel}
        </Button>
      </div>
    </form>
  );
}
