'use client';
import { useEffect, useRef } from 'react';
import { createKeybindingsHandler } from 'tinykeys';
import { keysOf } from './bindings.ts';
import { useCommandContext } from './command-context.tsx';
import { COMMAND_IDS, COMMANDS, type CommandId } from './commands.ts';
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
  const available = useAvailableCommands();
  /** As of the last render: what a page offers changes while it loads, and no half of a sequence is lost by it. */
  const now = useRef(available);
  now.current = available;
  useEffect(() => {
    const commands = new Map<string, CommandId[]>();
    for (const id of COMMAND_IDS) {
      const keys = keysOf(id, settings);
      if (keys !== null && COMMANDS[id].fixed !== true) commands.set(keys, [...(commands.get(keys) ?? []), id]);
    }
    const bindings = [...commands].map(([keys, ids]) => {
      const pressed = (event: KeyboardEvent): void => {
        const id = ids.find((each) => now.current.ids.includes(each));
        if (id === undefined || event.defaultPrevented) return;
        if (isWithin(event.target, COMMANDS[id].inFields === true ? '.xterm, .cm-editor' : FIELDS)) return;
        event.preventDefault();
        now.current.run(id);
      };
      return [keys, pressed] as const;
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
  }, [settings]);
}

const isWithin = (target: EventTarget | null, selector: string): boolean =>
  target instanceof Element && target.closest(selector) !== null;
