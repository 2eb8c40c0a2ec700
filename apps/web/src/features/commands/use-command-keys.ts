'use client';
import { useEffect } from 'react';
import { createKeybindingsHandler } from 'tinykeys';
import { keysOf } from './bindings.ts';
import { useCommandContext } from './command-context.tsx';
import { COMMANDS } from './commands.ts';
import { useAvailableCommands } from './use-available-commands.ts';

/** Longest time between two presses of a sequence. Milliseconds. */
const TOGETHER_MS = 1_000;

/** Parts of the page with a use of their own for keys: an open menu or dialog, a terminal, an editor. */
const OWN_KEYS = '[role="menu"], [role="dialog"], [role="alertdialog"], .xterm, .cm-editor';
/** A box that is ticked takes no letters. */
const FIELDS = `input:not([type="checkbox"]), textarea, select, [contenteditable="true"], ${OWN_KEYS}`;

/** Runs commands by their keys. `Escape` leaves a field of the page, so that the keys without ⌘ and Ctrl work again. */
export function useCommandKeys(): void {
  const { keys: settings } = useCommandContext();
  const { ids, run } = useAvailableCommands();
  useEffect(() => {
    const bindings = ids.flatMap((id) => {
      const { fixed, inFields } = COMMANDS[id];
      const keys = keysOf(id, settings);
      if (keys === null || fixed === true) return [];
      const pressed = (event: KeyboardEvent): void => {
        if (event.defaultPrevented || isWithin(event.target, inFields === true ? '.xterm, .cm-editor' : FIELDS)) return;
        event.preventDefault();
        run(id);
      };
      return [[keys, pressed] as const];
    });
    // `g c` ends with what `c` is: the longer one is asked first, and takes the press.
    bindings.sort(([one], [other]) => other.split(' ').length - one.split(' ').length);
    const listener = createKeybindingsHandler(Object.fromEntries(bindings), {
      timeout: TOGETHER_MS,
      ignore: (event) => event.repeat || event.isComposing,
    });
    const leaveField = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing) return;
      const { target } = event;
      if (target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement)
        if (target.closest(OWN_KEYS) === null) target.blur();
    };
    window.addEventListener('keydown', listener);
    window.addEventListener('keydown', leaveField);
    return () => {
      window.removeEventListener('keydown', listener);
      window.removeEventListener('keydown', leaveField);
    };
  }, [ids, run, settings]);
}

const isWithin = (target: EventTarget | null, selector: string): boolean =>
  target instanceof Element && target.closest(selector) !== null;
