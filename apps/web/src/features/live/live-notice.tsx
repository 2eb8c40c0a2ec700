'use client';
import { Button } from '@slipway/ui';
import { Play, RotateCw } from 'lucide-react';
import type { ReactNode } from 'react';
import { useOnline } from '../../browser/media.ts';
import { useLifecycle } from '../conversation/use-lifecycle.ts';
import { useReach } from '../ports/use-access.ts';
import type { LiveChannel } from './live-state.ts';

/** Why a live channel does not show what happens now, and what to do; nothing while it does. @param what what is away, as `The terminal`. */
export function LiveNotice({ channel, what }: { channel: LiveChannel; what: string }) {
  const online = useOnline();
  const reach = useReach();
  const { state } = channel;
  const words = !online ? (
    <>You are offline. {what} comes back with the connection.</>
  ) : reach === 'starting' ? (
    <>The sandbox is starting. {what} opens once it runs.</>
  ) : reach === 'paused' ? (
    <>
      The sandbox is paused. Resume it first. <Resume />
    </>
  ) : reach === 'none' ? (
    <>
      There is no sandbox now. A message starts one with the same files, and so does Resume. <Resume />
    </>
  ) : state.phase === 'away' ? (
    <>
      {state.reason} {what} comes back by itself. <Again press={channel.retry}>Connect now</Again>
    </>
  ) : state.phase === 'refused' ? (
    <>
      {state.reason} <Again press={channel.retry}>Connect again</Again>
    </>
  ) : null;
  return (
    <div role="status" className={words === null ? 'sr-only' : 'flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line bg-raised px-3 py-2 text-sm'}>
      {words}
    </div>
  );
}

function Resume() {
  const { resume } = useLifecycle();
  return (
    <Button size="small" onClick={() => resume.mutate()} busy={resume.isPending}>
      {resume.isPending ? null : <Play aria-hidden />} Resume
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
