'use client';
import { type BrowserState, MAX_BROWSER_NOTE } from '@slipway/contracts/live';
import { Button, Input } from '@slipway/ui';
import { Hand } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { type FormEvent, type RefObject, useState } from 'react';
import { useView } from '../conversation/conversation-context.ts';
import { useNoteMessage } from './use-note-message.ts';

/** Who has the browser, and how that changes. */
export function HolderBar({
  state,
  old,
  take,
  handBack,
  button,
}: {
  state: BrowserState;
  /** What is shown may not be so any more. */
  old: boolean;
  take: () => void;
  handBack: (note: string) => void;
  button: RefObject<HTMLButtonElement | null>;
}) {
  const t = useTranslations();
  const { holder, yours } = state;
  const working = useView((view) => view.status === 'working');
  return (
    <div className="flex min-h-12 shrink-0 flex-wrap items-center gap-x-3 gap-y-2 border-b border-line px-3 py-2 text-sm">
      <p role="status" className="min-w-0 flex-1 basis-40 break-words">
        {yours
          ? t(working ? 'browserView.youHaveTheBrowser' : 'browserView.youHaveTheBrowserIdle')
          : holder === null
            ? t('browserView.theAgentControlsTheBrowser')
            : holder.away
              ? t('browserView.controlsTheBrowserButLost', { name: holder.name })
              : t('browserView.controlsTheBrowser', { name: holder.name })}
      </p>
      {yours ? (
        <HandBack off={old} working={working} handBack={handBack} button={button} />
      ) : holder === null ? (
        <Button onClick={take} disabled={old}>
          <Hand aria-hidden /> {t('browserView.takeOver')}
        </Button>
      ) : null}
    </div>
  );
}

/**
 * The note reaches an agent at work with what it sees next of the browser; an idle one gets it as a message, or nobody
 * would read it.
 */
function HandBack(props: {
  off: boolean;
  working: boolean;
  handBack: (note: string) => void;
  button: RefObject<HTMLButtonElement | null>;
}) {
  const t = useTranslations();
  const { off, working, handBack, button } = props;
  const [note, setNote] = useState('');
  const message = useNoteMessage();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (off) return;
    if (!working && note.trim() !== '') message.mutate(note.trim());
    handBack(working ? note : '');
  };
  return (
    <form onSubmit={submit} aria-label={t('browserView.handBrowserBack')} className="flex w-full items-center gap-2">
      <Input
        value={note}
        maxLength={MAX_BROWSER_NOTE}
        autoComplete="off"
        aria-label={t('browserView.noteForTheAgentOptional')}
        placeholder={t('browserView.noteForTheAgentOptional')}
        onChange={(event) => setNote(event.target.value)}
        className="min-w-0 flex-1"
      />
      <Button ref={button} type="submit" tone="primary" disabled={off}>
        {t('browserView.handBack')}
      </Button>
    </form>
  );
}
