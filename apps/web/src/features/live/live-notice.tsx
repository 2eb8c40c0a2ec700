'use client';
import { Button } from '@slipway/ui';
import { Play, RotateCw } from 'lucide-react';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import { useOnline } from '../../browser/media.ts';
import { useLifecycle } from '../conversation/use-lifecycle.ts';
import { useReach } from '../ports/use-access.ts';
import type { LiveChannel } from './live-state.ts';

/**
 * Why a live channel does not show what happens now, and what to do; nothing while it does. @param what what is away,
 * as `The terminal`.
 */
export function LiveNotice({ channel, what }: { channel: LiveChannel; what: string }) {
  const t = useTranslations();
  const online = useOnline();
  const reach = useReach();
  const { state } = channel;
  const words = !online ? (
    t('live.youAreOfflineReconnectsWhen', { what })
  ) : reach === 'starting' ? (
    t('live.theSandboxIsStartingOpens', { what })
  ) : reach === 'paused' ? (
    <>
      {t('live.theSandboxIsPausedResume')} <Resume />
    </>
  ) : reach === 'none' ? (
    <>
      {t('live.thereIsNoSandboxResume')} <Resume />
    </>
  ) : state.phase === 'away' ? (
    <>
      {t('live.reconnectsAutomatically', { reason: state.reason, what })}{' '}
      <Again press={channel.retry}>{t('live.connectNow')}</Again>
    </>
  ) : state.phase === 'refused' ? (
    <>
      {state.reason} <Again press={channel.retry}>{t('live.reconnect')}</Again>
    </>
  ) : null;
  return (
    <div
      role="status"
      className={
        words === null
          ? 'sr-only'
          : 'flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line bg-raised px-3 py-2 text-sm'
      }
    >
      {words}
    </div>
  );
}

function Resume() {
  const t = useTranslations();
  const { resume } = useLifecycle();
  return (
    <Button size="small" onClick={() => resume.mutate()} busy={resume.isPending}>
      {resume.isPending ? null : <Play aria-hidden />} {t('common.resume')}
    </Button>
  );
}

function Again({ press, children }: { press: () => void; children: ReactNode }) {
  return (
    <Button size="small" onClick={press}>
      <RotateCw aria-hidden /> {children}
    </Button>
  );
}
