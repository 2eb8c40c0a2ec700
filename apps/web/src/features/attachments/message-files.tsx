'use client';
import { downloadUrls } from '@slipway/api-client';
import { PICTURE_TYPES } from '@slipway/contracts/conversations';
import type { MessageAttachment } from '@slipway/contracts/events';
import { FileText } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { bytes } from '../../browser/format.ts';
import { useConversation } from '../conversation/conversation-context.ts';

/** Files of a message that was sent: pictures are shown, and every file is saved when it is pressed. */
export function MessageFiles({ files }: { readonly files: readonly MessageAttachment[] }) {
  const t = useTranslations();
  if (files.length === 0) return null;
  return (
    <ul aria-label={t('attachments.filesOfMessage')} className="mt-2 flex flex-wrap gap-2">
      {files.map((file) => (
        <li key={file.id} className="max-w-full">
          <SentFile file={file} />
        </li>
      ))}
    </ul>
  );
}

function SentFile({ file: { id, name, media_type, size_bytes } }: { readonly file: MessageAttachment }) {
  const t = useTranslations();
  const { orgId, conversation } = useConversation();
  const [broken, setBroken] = useState(false);
  const url = downloadUrls.downloadAttachment({ org: orgId, conversation: conversation.id, attachment: id });
  const isPicture = PICTURE_TYPES.has(media_type) && !broken;
  return (
    <a
      href={url}
      download={name}
      title={t('attachments.download', { name })}
      className="flex max-w-full flex-col gap-1 rounded-md border border-line bg-surface px-2 py-1 text-sm hover:border-line-strong"
    >
      {isPicture ? (
        // biome-ignore lint/performance/noImgElement: a file of a user, which only the server may hand out
        <img
          src={url}
          alt={t('attachments.pictureNamed', { name })}
          loading="lazy"
          onError={() => setBroken(true)}
          className="h-40 w-auto max-w-full self-start rounded-sm bg-white object-contain"
        />
      ) : null}
      <span className="flex min-w-0 items-center gap-1.5">
        {isPicture ? null : <FileText aria-hidden className="size-3.5 shrink-0 text-ink-muted" />}
        <span dir="auto" className="min-w-0 truncate">
          {name}
        </span>
        <span className="shrink-0 text-xs text-ink-muted">{bytes(size_bytes)}</span>
      </span>
    </a>
  );
}
