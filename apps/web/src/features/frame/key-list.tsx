'use client';
import { Dialog, Kbd } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { SEND_KEY } from '../../browser/keys.ts';
import type { MessageKey } from '../../messages/translate.ts';

/** Every key of the pages, in the order in which they are of use. */
const KEYS: ReadonlyArray<{ readonly keys: readonly string[]; readonly does: MessageKey }> = [
  { keys: ['c'], does: 'common.newTask' },
  { keys: ['g', 'c'], does: 'frame.goToConversations' },
  { keys: ['g', 'a'], does: 'frame.goToAdmin' },
  { keys: ['/'], does: 'frame.search' },
  { keys: [SEND_KEY], does: 'frame.sendMessageOrStartTask' },
  { keys: ['Esc'], does: 'frame.leaveTheField' },
  { keys: ['?'], does: 'frame.keyboardShortcuts2' },
];

export function KeyList({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const t = useTranslations();
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={t('frame.keyboardShortcuts')}
      description={t('frame.shortcutsAreOffWhileYou')}
    >
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-6 gap-y-2 p-4 text-sm">
        {KEYS.map(({ keys, does }) => (
          <div key={does} className="contents">
            <dt className="flex gap-1">
              {keys.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dt>
            <dd>{t(does)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
