'use client';
import { createContext, type ReactNode, use, useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useStored } from '../../browser/stored.ts';
import { type KeySettings, readKeySettings } from './bindings.ts';
import type { CommandId } from './commands.ts';

/** Where a browser keeps a user's keys. */
export const STORED_KEYS = 'slipway.keys';

interface Handler {
  readonly run: () => void;
}

/** A place of the open page that the palette offers beside commands. */
export interface Place {
  readonly key: string;
  readonly text: string;
  readonly go: () => void;
}

interface CommandContextValue {
  /** What can be done on this page beside the commands that lead somewhere. */
  readonly handlers: ReadonlyMap<CommandId, readonly Handler[]>;
  readonly register: (id: CommandId, handler: Handler) => () => void;
  /** Places of the open page, the newest first, read when the palette opens; `null`: it has none. */
  readonly places: (() => readonly Place[]) | null;
  readonly offerPlaces: (places: (() => readonly Place[]) | null) => void;
  readonly keys: KeySettings;
  readonly changeKeys: (settings: KeySettings) => void;
}

const CommandContext = createContext<CommandContextValue | null>(null);

/** Holds the commands of what is on the page. */
export function CommandProvider({ children }: { children: ReactNode }) {
  const [handlers, setHandlers] = useState<ReadonlyMap<CommandId, readonly Handler[]>>(new Map());
  const [places, setPlaces] = useState<(() => readonly Place[]) | null>(null);
  const offerPlaces = useCallback((next: (() => readonly Place[]) | null) => setPlaces(() => next), []);
  const [stored, store] = useStored(STORED_KEYS, '');
  const register = useCallback((id: CommandId, handler: Handler) => {
    setHandlers((before) => new Map(before).set(id, [...(before.get(id) ?? []), handler]));
    return () =>
      setHandlers((before) => {
        const left = (before.get(id) ?? []).filter((each) => each !== handler);
        const after = new Map(before);
        if (left.length === 0) after.delete(id);
        else after.set(id, left);
        return after;
      });
  }, []);
  const keys = useMemo(() => readKeySettings(stored), [stored]);
  const value = useMemo(
    () => ({
      handlers,
      register,
      places,
      offerPlaces,
      keys,
      changeKeys: (settings: KeySettings) => store(JSON.stringify(settings)),
    }),
    [handlers, register, places, offerPlaces, keys, store],
  );
  return <CommandContext value={value}>{children}</CommandContext>;
}

export function useCommandContext(): CommandContextValue {
  const context = use(CommandContext);
  if (context === null) throw new Error('a command outside of CommandProvider');
  return context;
}

/**
 * Offers a command while the component is there; the one that came last is run. `null`: it cannot be done now. Offered
 * in layout effects: a key that is pressed as soon as the button is on the page finds its command.
 */
export function useCommand(id: CommandId, run: (() => void) | null): void {
  const { register } = useCommandContext();
  const latest = useRef(run);
  useLayoutEffect(() => {
    latest.current = run;
  });
  const offered = run !== null;
  useLayoutEffect(
    () => (offered ? register(id, { run: () => latest.current?.() }) : undefined),
    [id, offered, register],
  );
}

/** Offers places of the page to the palette while the component is there. */
export function usePlaces(places: readonly Place[]): void {
  const { offerPlaces } = useCommandContext();
  const latest = useRef(places);
  useLayoutEffect(() => {
    latest.current = places;
  });
  const any = places.length > 0;
  useLayoutEffect(() => {
    if (!any) return;
    offerPlaces(() => latest.current);
    return () => offerPlaces(null);
  }, [any, offerPlaces]);
}
