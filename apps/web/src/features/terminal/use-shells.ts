'use client';
import { type LiveShell, TerminalLiveMessage, type TerminalLiveRequest } from '@slipway/contracts/live';
import { useTranslations } from 'next-intl';
import { useRef, useState } from 'react';
import { toast } from 'sonner';
import type { LiveChannel } from '../live/live-state.ts';
import { useLiveChannel } from '../live/use-live-channel.ts';

export interface Shells {
  readonly channel: LiveChannel;
  /** `null` until the sandbox has listed them. The user's first, then the agent's. */
  readonly shells: readonly LiveShell[] | null;
  readonly shown: LiveShell | null;
  readonly show: (id: string) => void;
  readonly open: () => void;
  readonly close: (id: string) => void;
  /** The shells of before are gone: their sandbox was started anew. */
  readonly lost: boolean;
}

/** The shells of this sandbox. A user who has none is given one when the panel opens. */
export function useShells(): Shells {
  const t = useTranslations();
  const [shells, setShells] = useState<readonly LiveShell[] | null>(null);
  const [wanted, setWanted] = useState<string | null>(null);
  const [lost, setLost] = useState(false);
  const [opening, setOpening] = useState(false);
  const first = useRef(true);
  /** The user has closed one: the next list is shorter for that. */
  const closing = useRef(false);
  const channel = useLiveChannel('terminal', {
    onMessage: (given) => {
      const message = TerminalLiveMessage.safeParse(given).data;
      if (message?.type === 'opened' || message?.type === 'not-opened') setOpening(false);
      if (message?.type === 'opened') {
        setWanted(message.shell);
        setLost(false);
      } else if (message?.type === 'not-opened')
        toast.error(t('terminal.theShellCouldNotBe'), { description: message.reason });
      else if (message?.type === 'shells') {
        const mine = message.shells.filter(({ owner }) => owner === 'person');
        const before = shells?.filter(({ owner }) => owner === 'person') ?? [];
        // Closed ones go one by one; all at once is the end of what ran them.
        if (before.length > 0 && mine.length === 0 && !closing.current) setLost(true);
        closing.current = false;
        setShells([...mine, ...message.shells.filter(({ owner }) => owner === 'agent')]);
        if (first.current && mine.length === 0) open();
        first.current = false;
      }
    },
  });
  const ask = (request: TerminalLiveRequest) => channel.send(request);
  const open = () => setOpening(ask({ type: 'open-shell', cols: 80, rows: 24 }));
  return {
    channel,
    // Between the request and the shell there is nothing to show.
    shells: opening && channel.state.phase === 'open' && !shells?.some(({ id }) => id === wanted) ? null : shells,
    shown: shells?.find(({ id }) => id === wanted) ?? (opening ? undefined : shells?.[0]) ?? null,
    show: setWanted,
    open,
    close: (id) => {
      closing.current = true;
      ask({ type: 'close-shell', shell: id });
    },
    lost,
  };
}
