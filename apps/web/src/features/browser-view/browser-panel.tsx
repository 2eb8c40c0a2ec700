'use client';
import { AfterDelay, Button, EmptyState, Skeleton } from '@slipway/ui';
import { Hand } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useRef, useState } from 'react';
import { LiveNotice } from '../live/live-notice.tsx';
import { AddressBar } from './address-bar.tsx';
import { HolderBar } from './holder-bar.tsx';
import { PageErrors } from './page-errors.tsx';
import { PagePicture } from './page-picture.tsx';
import { PageTabs } from './page-tabs.tsx';
import { useBrowserView } from './use-browser-view.ts';

/** The agent's browser as it is now: to watch, to take, and to give back. */
export function BrowserPanel() {
  const t = useTranslations();
  const view = useBrowserView();
  const { channel, state, errors, notice, attach, pictured, send, take, handBack } = view;
  const [full, setFull] = useState(false);
  const handBackButton = useRef<HTMLButtonElement>(null);
  const old = channel.state.phase !== 'open';
  if (state === null)
    return (
      <div className="flex h-full flex-col">
        <LiveNotice channel={channel} what={t('browserView.theBrowser')} />
        {channel.state.phase === 'connecting' || channel.state.phase === 'open' ? (
          <div className="p-4">
            <AfterDelay>
              <Skeleton className="aspect-[8/5] w-full" />
            </AfterDelay>
          </div>
        ) : null}
      </div>
    );
  const { phase, holder, yours } = state;
  return (
    <div className="flex h-full flex-col">
      <LiveNotice channel={channel} what={t('browserView.theBrowser')} />
      {phase === 'lacking' ? (
        <EmptyState title={t('browserView.thisSandboxHasNoBrowser')}>
          {state.missing} {t('browserView.theSandboxTemplateDecidesWhich')}
        </EmptyState>
      ) : (
        <>
          {phase === 'open' || holder !== null || yours ? (
            <HolderBar state={state} old={old} take={take} handBack={handBack} button={handBackButton} />
          ) : null}
          {phase === 'open' || yours ? (
            <AddressBar state={state} off={!yours || old} full={full} setFull={setFull} send={send} />
          ) : null}
          {phase === 'open' ? (
            <>
              <PageTabs tabs={state.tabs} off={!yours || old} send={send} />
              <div className={pictured ? 'flex min-h-0 flex-1 flex-col' : 'invisible h-0'}>
                <PagePicture
                  state={state}
                  attach={attach}
                  full={full}
                  old={old}
                  send={send}
                  leave={() => handBackButton.current?.focus()}
                />
              </div>
              {pictured ? null : (
                <div className="min-h-0 flex-1 p-4">
                  <AfterDelay>
                    <Skeleton className="aspect-[8/5] w-full" />
                  </AfterDelay>
                </div>
              )}
              {yours && !old ? (
                <p className="shrink-0 border-t border-line px-3 py-1.5 text-xs text-ink-muted">
                  {t.rich('browserView.clickThePageToType', {
                    span: (chunks) => <span className="whitespace-nowrap">{chunks}</span>,
                  })}
                </p>
              ) : null}
            </>
          ) : (
            <EmptyState
              title={t('browserView.theAgentHasNotOpened')}
              action={
                holder === null && !old ? (
                  <Button onClick={take}>
                    <Hand aria-hidden /> {t('browserView.openBrowser')}
                  </Button>
                ) : null
              }
            >
              {yours ? t('browserView.enterAnAddressAboveTo') : t('browserView.itsPagesAppearHereLive')}
            </EmptyState>
          )}
          <p
            role="status"
            className={notice === null ? 'sr-only' : 'shrink-0 border-t border-line bg-raised px-3 py-1.5 text-sm'}
          >
            {notice}
          </p>
          <PageErrors errors={errors} />
        </>
      )}
    </div>
  );
}
