'use client';
import type { BrowserLiveRequest, BrowserTab } from '@slipway/contracts/live';
import { cn, IconButton } from '@slipway/ui';
import { X } from 'lucide-react';
import { useTranslations } from 'next-intl';

/** The pages that are open; the last one cannot be closed here. */
export function PageTabs({
  tabs,
  off,
  send,
}: {
  tabs: readonly BrowserTab[];
  off: boolean;
  send: (request: BrowserLiveRequest) => void;
}) {
  const t = useTranslations();
  return (
    <ul
      aria-label={t('browserView.browserTabs')}
      className="flex shrink-0 gap-1 overflow-x-auto border-b border-line px-2 py-1"
    >
      {tabs.map((tab) => {
        const name = tab.title || tab.address || t('browserView.blankPage');
        return (
          <li
            key={tab.id}
            className={cn(
              'flex max-w-52 min-w-24 shrink-0 items-center rounded-md px-2',
              tab.shown ? 'bg-raised text-ink' : 'text-ink-muted',
            )}
          >
            <button
              type="button"
              disabled={off}
              aria-current={tab.shown ? 'page' : undefined}
              title={name}
              onClick={() => send({ type: 'tab', id: tab.id, act: 'show' })}
              className={cn(
                'min-h-7 min-w-0 flex-1 truncate text-left text-xs touch:min-h-11',
                tab.shown && 'font-medium',
              )}
            >
              {name}
            </button>
            {tabs.length > 1 ? (
              <IconButton
                label={t('browserView.close', { name })}
                size="icon-small"
                disabled={off}
                onClick={() => send({ type: 'tab', id: tab.id, act: 'close' })}
              >
                <X aria-hidden />
              </IconButton>
            ) : null}
          </li>
        );
      })}
    </ul>
  );
}
