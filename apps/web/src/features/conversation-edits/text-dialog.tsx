'use client';
import { Button, Dialog, Field, Input } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { type SyntheticEvent, useState } from 'react';

/** Asks for one line of text. Stays open when `save` says that it was not done. */
export function TextDialog({
  title,
  label,
  hint,
  initial,
  maxLength,
  save,
  onClose,
}: {
  title: string;
  label: string;
  hint?: string;
  initial: string;
  /** UTF-16 code units. */
  maxLength: number;
  save: (text: string) => Promise<boolean>;
  onClose: () => void;
}) {
  const t = useTranslations();
  const [text, setText] = useState(initial);
  const [busy, setBusy] = useState(false);
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    if (await save(text.trim())) onClose();
    setBusy(false);
  };
  return (
    <Dialog open onOpenChange={onClose} title={title}>
      <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-4 p-4">
        <Field label={label} hint={hint}>
          {(control) => (
            <Input
              {...control}
              data-autofocus
              dir="auto"
              autoComplete="off"
              maxLength={maxLength}
              value={text}
              onFocus={(event) => event.target.select()}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button type="submit" tone="primary" busy={busy}>
            {t('common.save')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
