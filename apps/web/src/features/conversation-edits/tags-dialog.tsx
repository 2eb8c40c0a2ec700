'use client';
import { MAX_TAG_LENGTH, MAX_TAGS } from '@slipway/contracts/conversations';
import { useTranslations } from 'next-intl';
import { toast } from 'sonner';
import { readTags } from './tag-list.ts';
import { TextDialog } from './text-dialog.tsx';

export function TagsDialog({
  title,
  tags,
  save,
  onClose,
}: {
  title: string;
  tags: readonly string[];
  save: (tags: string[]) => Promise<boolean>;
  onClose: () => void;
}) {
  const t = useTranslations();
  const limits = t('conversationEdits.tagLimits', { count: MAX_TAGS, length: MAX_TAG_LENGTH });
  return (
    <TextDialog
      title={title}
      label={t('conversationEdits.tags')}
      hint={limits}
      initial={tags.join(', ')}
      maxLength={MAX_TAGS * (MAX_TAG_LENGTH + 2)}
      save={(text) => {
        const read = readTags(text);
        if (read !== null) return save(read);
        toast.error(limits);
        return Promise.resolve(false);
      }}
      onClose={onClose}
    />
  );
}
