'use client';
import { Button } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { type SyntheticEvent, useState } from 'react';

/** A no with a line of why, in the place of the buttons that it was chosen from. */
export function ReasonForm({
  name,
  label,
  placeholder = label,
  submit,
  maxLength,
  busy,
  onCancel,
  onSend,
}: {
  /** Of the form, for who hears it. */
  name: string;
  label: string;
  placeholder?: string;
  submit: string;
  maxLength: number;
  busy: boolean;
  onCancel: () => void;
  /** Without white space at its ends; it may be empty. */
  onSend: (reason: string) => void;
}) {
  const t = useTranslations();
  const [reason, setReason] = useState('');
  const send = (event: SyntheticEvent) => {
    event.preventDefault();
    if (!busy) onSend(reason.trim());
  };
  return (
    <form onSubmit={send} className="flex flex-wrap items-center gap-2" aria-label={name}>
      <label className="min-w-0 flex-1 basis-60">
        <span className="sr-only">{label}</span>
        <input
          // biome-ignore lint/a11y/noAutofocus: the field is what was asked for
          autoFocus
          value={reason}
          maxLength={maxLength}
          dir="auto"
          onChange={(event) => setReason(event.target.value)}
          placeholder={placeholder}
          className="h-8 w-full rounded-md border border-line-strong bg-surface px-2.5 text-sm touch:h-11 touch:text-[16px]"
        />
      </label>
      <Button type="submit" tone="danger" busy={busy}>
        {submit}
      </Button>
      <Button tone="quiet" disabled={busy} onClick={onCancel}>
        {t('common.back')}
      </Button>
    </form>
  );
}
