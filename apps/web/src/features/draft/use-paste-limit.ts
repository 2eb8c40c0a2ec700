'use client';
import { MAX_PROMPT_LENGTH } from '@slipway/contracts/conversations';
import { useTranslations } from 'next-intl';
import type { ClipboardEvent } from 'react';
import { toast } from 'sonner';
import { number } from '../../browser/format.ts';

/**
 * Refuses a paste that no message can hold, before it is in the box: a text of many megabytes would hold up the page.
 */
export function usePasteLimit(): (event: ClipboardEvent) => void {
  const t = useTranslations();
  return (event) => {
    const { length } = event.clipboardData.getData('text/plain');
    if (length <= MAX_PROMPT_LENGTH) return;
    event.preventDefault();
    toast.error(t('draft.pasteTooLong'), {
      description: t('draft.pasteLimit', { count: number(length), max: number(MAX_PROMPT_LENGTH) }),
    });
  };
}
