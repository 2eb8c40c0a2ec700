'use client';
import { MAX_ATTACHMENT_BYTES } from '@slipway/contracts/conversations';
import { useTranslations } from 'next-intl';
import { type ClipboardEvent, type DragEvent, useState } from 'react';
import { toast } from 'sonner';
import { bytes, number } from '../../browser/format.ts';
import { isLongText } from './attached-file.ts';
import type { Attachments } from './use-attachments.ts';

export interface FileIntake {
  readonly onPaste: (event: ClipboardEvent) => void;
  /** Of the area that files are dropped on. */
  readonly drop: {
    readonly onDragOver: (event: DragEvent) => void;
    readonly onDragLeave: (event: DragEvent) => void;
    readonly onDrop: (event: DragEvent) => void;
  };
  /** Files are held over the area. */
  readonly over: boolean;
}

/**
 * Takes files that are pasted or dropped, and long pasted text as a file. What no file can hold is refused before it is
 * in the box: a text of many megabytes would hold up the page.
 */
export function useFileIntake({ add }: Pick<Attachments, 'add'>): FileIntake {
  const t = useTranslations();
  const [over, setOver] = useState(false);
  const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes('Files');
  return {
    over,
    onPaste: (event) => {
      const { files, types } = event.clipboardData;
      const text = event.clipboardData.getData('text/plain');
      // Office programs put a picture of the text beside it.
      if (files.length > 0 && !(text !== '' && types.includes('text/html'))) {
        event.preventDefault();
        add([...files]);
      } else if (text.length > MAX_ATTACHMENT_BYTES) {
        event.preventDefault();
        toast.error(t('draft.pasteTooLong'), {
          description: t('attachments.pasteLimit', { count: number(text.length), max: bytes(MAX_ATTACHMENT_BYTES) }),
        });
      } else if (isLongText(text)) {
        event.preventDefault();
        add([new File([text], 'pasted-text.txt', { type: 'text/plain' })], text);
      }
    },
    drop: {
      onDragOver: (event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: ({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget as Node | null)) setOver(false);
      },
      onDrop: (event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(false);
        add([...event.dataTransfer.files]);
      },
    },
  };
}
