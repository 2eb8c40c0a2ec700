'use client';
import { Dialog, Kbd } from '@slipway/ui';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { keysOf } from './bindings.ts';
import { useCommandContext } from './command-context.tsx';
import { COMMAND_IDS, COMMANDS } from './commands.ts';
import { displayOf } from './press.ts';

/** Every command that has keys, with those of this user. */
export default function ShortcutList({ close }: { close: () => void }) {
  const t = useTranslations();
  const { keys } = useCommandContext();
  return (
    <Dialog
      open
      onOpenChange={close}
      title={t('commands.shortcuts')}
      description={t('commands.shortcutsAreOffWhileYouType')}
    >
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-6 gap-y-2 p-4 text-sm">
        {COMMAND_IDS.map((id) => {
          const bound = keysOf(id, keys);
          return bound === null ? null : (
            <div key={id} className="contents">
              <dt className="flex gap-1">
                {displayOf(bound).map((press, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a sequence may hold a press twice, and never changes
                  <Kbd key={index}>{press}</Kbd>
                ))}
              </dt>
              <dd>{t(COMMANDS[id].label)}</dd>
            </div>
          );
        })}
      </dl>
      <p className="border-t border-line px-4 py-3 text-sm">
        <Link href="/settings/keys" onClick={close} className="text-accent underline">
          {t('commands.changeShortcuts')}
        </Link>
      </p>
    </Dialog>
  );
}
