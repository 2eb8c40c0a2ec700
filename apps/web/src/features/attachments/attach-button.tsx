'use client';
import { IconButton } from '@slipway/ui';
import { Paperclip } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useRef } from 'react';

/** Opens the computer's own dialog for files. */
export function AttachButton({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const t = useTranslations();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        tabIndex={-1}
        aria-label={t('attachments.attachFiles')}
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          // The same file can be picked again.
          currentTarget.value = '';
        }}
      />
      <IconButton side="top" label={t('attachments.attachFiles')} onClick={() => input.current?.click()}>
        <Paperclip aria-hidden />
      </IconButton>
    </>
  );
}
