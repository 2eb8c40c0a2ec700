'use client';
import { MAX_PROMPT_LENGTH, PICTURE_TYPES } from '@slipway/contracts/conversations';
import { Button, cn, IconButton } from '@slipway/ui';
import { CircleAlert, FileText, Image, X } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { bytes } from '../../browser/format.ts';
import type { AttachedFile } from './attached-file.ts';
import type { Attachments } from './use-attachments.ts';

interface ChipsProps {
  readonly attachments: Attachments;
  /** Puts a text that became a file into the box after all. */
  readonly onText: (text: string) => void;
}

/** The files of the next message. */
export function AttachmentChips({ attachments, onText }: ChipsProps) {
  const t = useTranslations();
  if (attachments.files.length === 0) return null;
  return (
    <ul aria-label={t('attachments.attachedFiles')} className="flex max-h-[30dvh] flex-wrap gap-1.5 overflow-auto">
      {attachments.files.map((file) => (
        <Chip key={file.key} file={file} attachments={attachments} onText={onText} />
      ))}
    </ul>
  );
}

function Chip({ file, attachments, onText }: ChipsProps & { readonly file: AttachedFile }) {
  const t = useTranslations();
  const { name, sizeBytes, error, id, progress, pasted } = file;
  const Icon = error !== undefined ? CircleAlert : PICTURE_TYPES.has(file.mediaType) ? Image : FileText;
  return (
    <li
      className={cn(
        'flex max-w-full flex-wrap items-center gap-x-1.5 rounded-md border border-line py-0.5 pr-0.5 pl-2 text-sm',
        error === undefined ? 'bg-raised' : 'bg-bad-soft',
      )}
    >
      <Icon aria-hidden className={cn('size-3.5 shrink-0', error === undefined ? 'text-ink-muted' : 'text-bad')} />
      <span dir="auto" className="max-w-56 min-w-0 truncate" title={name}>
        {name}
      </span>
      <span className="text-xs text-ink-muted">{bytes(sizeBytes)}</span>
      {id === undefined && error === undefined ? (
        <progress
          aria-label={t('attachments.uploading', { name })}
          value={progress}
          max={1}
          className="h-1.5 w-14 accent-accent"
        />
      ) : null}
      {pasted === undefined || pasted.length > MAX_PROMPT_LENGTH ? null : (
        <Button
          size="small"
          tone="quiet"
          onClick={() => {
            attachments.remove(file);
            onText(pasted);
          }}
        >
          {t('attachments.pasteAsText')}
        </Button>
      )}
      {error?.retry === true ? (
        <Button size="small" onClick={() => attachments.retry(file)}>
          {t('common.retry')}
        </Button>
      ) : null}
      <IconButton
        size="icon-small"
        side="top"
        label={t('attachments.remove', { name })}
        onClick={() => attachments.remove(file)}
      >
        <X aria-hidden />
      </IconButton>
      {error === undefined ? null : (
        <p role="alert" className="basis-full pb-1 text-xs text-ink">
          {error.message}
        </p>
      )}
    </li>
  );
}
