'use client';
import { Button, Field, Input } from '@slipway/ui';
import { ExternalLink, Play } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import { useOnline } from '../../browser/media.ts';
import { useLifecycle } from '../conversation/use-lifecycle.ts';
import { Failed } from '../frame/failed.tsx';
import { AccessList } from './access-list.tsx';
import { OpenEditor } from './open-editor.tsx';
import { type PortAddress, readPortAddress, USUAL_PORTS } from './port-address.ts';
import type { Reach } from './reach.ts';
import { useAccessList, usePortOpening, useReach } from './use-access.ts';

/** Opens what listens in the sandbox in a tab of its own, and says who has what open. */
export function Ports() {
  const t = useTranslations();
  const reach = useReach();
  const online = useOnline();
  const list = useAccessList();
  const { open, held, openHeld } = usePortOpening();
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState<string | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const closed = !online || reach !== 'open';

  const openPort = (address: PortAddress) => {
    setWrong(null);
    if (!open.isPending) open.mutate(address);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const address = readPortAddress(t, text);
    if (typeof address === 'string') {
      setWrong(address);
      return input.current?.focus();
    }
    if (!closed) openPort(address);
  };

  // Before anything is asked for: where there is no gateway, no port of any sandbox can be opened.
  if (list.data === undefined && list.error)
    return <Failed error={list.error} retry={() => list.refetch()} className="m-4" />;
  return (
    <div className="flex h-full flex-col gap-5 overflow-auto p-4">
      <form noValidate onSubmit={submit} aria-label={t('ports.openAPort')} className="flex flex-col gap-3">
        <NotNow online={online} reach={reach} />
        <div className="flex items-start gap-2">
          <Field label={t('ports.sandboxPort')} error={wrong} hint={t('ports.opensInANewTab')} className="flex-1">
            {(control) => (
              <Input
                {...control}
                ref={input}
                inputMode="url"
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
                placeholder={t('ports.n5173OrLocalhost5173Path')}
                value={text}
                onChange={(event) => {
                  setText(event.target.value);
                  setWrong(null);
                }}
              />
            )}
          </Field>
          {/* Beside the field, below its label. */}
          <Button tone="primary" type="submit" busy={open.isPending} disabled={closed} className="mt-[22px]">
            {open.isPending ? null : <ExternalLink aria-hidden />} {t('common.open')}
          </Button>
        </div>
        <div className="flex flex-wrap items-center gap-1.5">
          <span className="text-xs text-ink-muted">{t('ports.commonPorts')}</span>
          {USUAL_PORTS.map((port) => (
            <Button
              key={port}
              size="small"
              disabled={closed}
              onClick={() => openPort({ port, path: '/' })}
              aria-label={t('ports.openPort', { port })}
            >
              {port}
            </Button>
          ))}
        </div>
      </form>
      <div role="status" className={held ? undefined : 'sr-only'}>
        {held ? (
          <Note>
            {t('ports.portIsReadyPressThe', { port: held.address.port })}
            <Button onClick={openHeld}>
              <ExternalLink aria-hidden /> {t('ports.openPort', { port: held.address.port })}
            </Button>
          </Note>
        ) : open.isSuccess ? (
          t('ports.portOpensInANew', { port: open.data.address.port })
        ) : null}
      </div>
      {open.isError ? <Failed error={open.error} /> : null}
      <OpenEditor closed={closed || open.isPending} openPort={openPort} />
      <AccessList list={list} reopen={closed || open.isPending ? null : openPort} />
    </div>
  );
}

/** Why nothing can be opened now, and what to do. Opening a port never starts a sandbox. */
function NotNow({ online, reach }: { online: boolean; reach: Reach }) {
  const t = useTranslations();
  const { resume } = useLifecycle();
  const resumeButton = (
    <Button onClick={() => resume.mutate()} busy={resume.isPending}>
      {resume.isPending ? null : <Play aria-hidden />} {t('common.resume')}
    </Button>
  );
  return (
    <div role="status" className={online && reach === 'open' ? 'sr-only' : undefined}>
      {!online ? (
        <Note>{t('ports.youAreOfflinePortsOpen')}</Note>
      ) : reach === 'starting' ? (
        <Note>{t('ports.theSandboxIsStartingPorts')}</Note>
      ) : reach === 'paused' ? (
        <Note>
          {t('ports.theSandboxIsPausedResume')} {resumeButton}
        </Note>
      ) : reach === 'none' ? (
        <Note>
          {t('ports.thereIsNoSandboxResume')} {resumeButton}
        </Note>
      ) : null}
    </div>
  );
}

function Note({ children }: { children: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border border-line bg-raised px-3 py-2 text-sm text-ink">
      {children}
    </div>
  );
}
