'use client';
import { type BrowserLiveRequest, type BrowserState, MAX_BROWSER_ADDRESS } from '@slipway/contracts/live';
import { IconButton, Input, Spinner } from '@slipway/ui';
import { ArrowLeft, Maximize2, Minimize2, RotateCw } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { type FormEvent, useState } from 'react';

/** Where the browser is; for who has it, also where it goes. */
export function AddressBar(props: {
  state: BrowserState;
  off: boolean;
  full: boolean;
  setFull: (full: boolean) => void;
  send: (request: BrowserLiveRequest) => void;
}) {
  const t = useTranslations();
  const { state, off, full, setFull, send } = props;
  /** What is being typed; `null` while nothing is. */
  const [typed, setTyped] = useState<string | null>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const address = (typed ?? state.address).trim();
    if (off || address === '') return;
    send({ type: 'go', address });
    setTyped(null);
  };
  return (
    <form
      onSubmit={submit}
      aria-label={t('browserView.browserAddress')}
      className="flex shrink-0 items-center gap-1 border-b border-line px-2 py-1.5"
    >
      <IconButton label={t('common.back')} disabled={off} onClick={() => send({ type: 'history', step: 'back' })}>
        <ArrowLeft aria-hidden />
      </IconButton>
      <IconButton
        label={t('browserView.reload')}
        disabled={off}
        onClick={() => send({ type: 'history', step: 'reload' })}
      >
        {state.loading ? <Spinner /> : <RotateCw aria-hidden />}
      </IconButton>
      <Input
        aria-label={t('common.address')}
        inputMode="url"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        readOnly={off}
        maxLength={MAX_BROWSER_ADDRESS}
        title={state.title}
        value={typed ?? state.address}
        onChange={(event) => setTyped(event.target.value)}
        onFocus={(event) => event.currentTarget.select()}
        onBlur={() => setTyped(null)}
        onKeyDown={(event) => event.key === 'Escape' && setTyped(null)}
        className="min-w-0 flex-1"
      />
      <IconButton
        label={full ? t('browserView.fitPageToPanel') : t('browserView.showPageAtFullSize')}
        aria-pressed={full}
        onClick={() => setFull(!full)}
      >
        {full ? <Minimize2 aria-hidden /> : <Maximize2 aria-hidden />}
      </IconButton>
      <span role="status" className="sr-only">
        {state.phase === 'open'
          ? t(state.loading ? 'browserView.loading' : 'browserView.showing', { page: state.title || state.address })
          : ''}
      </span>
    </form>
  );
}
