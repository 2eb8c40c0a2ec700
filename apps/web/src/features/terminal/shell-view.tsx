'use client';
import { useTranslations } from 'next-intl';
import '@xterm/xterm/css/xterm.css';
import type { LiveShell } from '@slipway/contracts/live';
import { Button, IconButton, Input } from '@slipway/ui';
import { ArrowDown, ArrowUp, X } from 'lucide-react';
import { useTheme } from 'next-themes';
import { useEffect, useRef, useState } from 'react';
import { useLiveChannel } from '../live/use-live-channel.ts';
import { readPortAddress } from '../ports/port-address.ts';
import { usePortOpening } from '../ports/use-access.ts';
import { ShellScreen } from './shell-screen.ts';

/** What phones have no keys for. */
const KEYS = [
  ['Esc', '\x1b'],
  ['Tab', '\t'],
  ['Ctrl-C', '\x03'],
  ['Ctrl-D', '\x04'],
  ['↑', '\x1b[A'],
  ['↓', '\x1b[B'],
  ['←', '\x1b[D'],
  ['→', '\x1b[C'],
] as const;

/** One shell, for as long as it is shown. @param leave puts the focus out of it. */
export function ShellView({
  shell,
  screenReader,
  leave,
}: {
  shell: LiveShell;
  screenReader: boolean;
  leave: () => void;
}) {
  const t = useTranslations();
  const place = useRef<HTMLDivElement>(null);
  const screen = useRef<ShellScreen | null>(null);
  const dark = useTheme().resolvedTheme === 'dark';
  const [note, setNote] = useState<string | null>(null);
  const [searching, setSearching] = useState(false);
  const { open } = usePortOpening();
  const channel = useLiveChannel(`terminal?shell=${shell.id}`, {
    onMessage: (message) => screen.current?.receive(message),
    onBytes: (bytes) => screen.current?.write(bytes),
  });

  /** Links to the sandbox's own machine are its ports. */
  const follow = (url: string) => {
    const port = readPortAddress(t, url);
    if (typeof port === 'string') window.open(url, '_blank', 'noopener,noreferrer');
    else open.mutate(port);
  };
  const latest = useRef({ t, channel, follow, leave, shell, dark, screenReader });
  useEffect(() => {
    latest.current = { t, channel, follow, leave, shell, dark, screenReader };
  });

  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const made = new ShellScreen({
      t: latest.current.t,
      shell: latest.current.shell,
      element,
      dark: latest.current.dark,
      screenReader: latest.current.screenReader,
      send: (request) => void latest.current.channel.send(request),
      type: (bytes) => void latest.current.channel.sendBytes(bytes),
      follow: (url) => latest.current.follow(url),
      wants: (what) => (what === 'leave' ? latest.current.leave() : setSearching(true)),
      note: setNote,
    });
    screen.current = made;
    if (latest.current.shell.owner === 'person') made.terminal.focus();
    return () => {
      screen.current = null;
      made.dispose();
    };
  }, []);
  useEffect(() => screen.current?.look(dark, screenReader), [dark, screenReader]);

  const endSearch = () => {
    setSearching(false);
    screen.current?.endFind();
    screen.current?.terminal.focus();
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col bg-term">
      {searching ? (
        <SearchBar find={(text, where) => screen.current?.find(text, where) ?? false} end={endSearch} />
      ) : null}
      <p
        role="status"
        className={note === null ? 'sr-only' : 'border-b border-line bg-warn-soft px-3 py-1.5 text-xs text-warn'}
      >
        {note}
      </p>
      <div className="min-h-0 flex-1 px-2 pt-2">
        <div ref={place} data-keeps-escape className="h-full overflow-hidden" />
      </div>
      {shell.owner === 'person' ? (
        <div className="hidden gap-1 overflow-x-auto border-t border-line p-1 touch:flex">
          {KEYS.map(([name, keys]) => (
            <Button key={name} size="small" tone="quiet" onClick={() => screen.current?.press(keys)}>
              {name}
            </Button>
          ))}
        </div>
      ) : null}
    </div>
  );
}

function SearchBar({ find, end }: { find: (text: string, where: 'next' | 'previous') => boolean; end: () => void }) {
  const t = useTranslations();
  const [text, setText] = useState('');
  const [missing, setMissing] = useState(false);
  const look = (where: 'next' | 'previous') => setMissing(text !== '' && !find(text, where));
  return (
    <search className="flex items-center gap-1 border-b border-line bg-surface px-2 py-1">
      <Input
        autoFocus
        aria-label={t('terminal.searchTerminal')}
        placeholder={t('terminal.searchTerminal')}
        value={text}
        aria-invalid={missing}
        onChange={(event) => {
          setText(event.target.value);
          setMissing(false);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') look(event.shiftKey ? 'next' : 'previous');
          if (event.key === 'Escape') end();
        }}
        className="h-8 flex-1"
      />
      <span role="status" className="text-xs text-ink-muted">
        {missing ? t('terminal.notFound') : ''}
      </span>
      <IconButton label={t('terminal.previousMatch')} size="icon-small" onClick={() => look('previous')}>
        <ArrowUp aria-hidden />
      </IconButton>
      <IconButton label={t('terminal.nextMatch')} size="icon-small" onClick={() => look('next')}>
        <ArrowDown aria-hidden />
      </IconButton>
      <IconButton label={t('terminal.closeSearch')} size="icon-small" onClick={end}>
        <X aria-hidden />
      </IconButton>
    </search>
  );
}
