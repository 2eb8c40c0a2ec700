import { isMac } from '../../browser/keys.ts';

/** Keys that only change another one. */
const MODIFIERS: ReadonlySet<string> = new Set(['Shift', 'Control', 'Alt', 'Meta', 'AltGraph', 'CapsLock', 'Dead']);
const NAMES: Readonly<Record<string, string>> = {
  Enter: '↵',
  Escape: 'Esc',
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  Backspace: '⌫',
  Space: 'Space',
};

type Pressed = Pick<KeyboardEvent, 'key' | 'metaKey' | 'ctrlKey' | 'altKey' | 'shiftKey'>;

/** What was pressed, in the notation of tinykeys; `null`: only a modifier, or a key that a page cannot have. */
export function pressOf({ key, metaKey, ctrlKey, altKey, shiftKey }: Pressed, mac = isMac): string | null {
  if (MODIFIERS.has(key) || key === 'Unidentified' || key === 'Process' || key === 'Tab') return null;
  const isSign = key.length === 1 && !/[a-z0-9]/i.test(key);
  const modifiers = [
    (mac ? metaKey : ctrlKey) ? '$mod' : '',
    (mac ? ctrlKey : metaKey) ? (mac ? 'Control' : 'Meta') : '',
    // A sign that is typed with Alt or AltGr on this keyboard is that sign.
    altKey && !isSign ? 'Alt' : '',
    // Whether a sign needs Shift depends on the keyboard.
    shiftKey ? (isSign ? '[Shift]' : 'Shift') : '',
  ].filter((each) => each !== '');
  const name = key === ' ' ? 'Space' : key.length === 1 ? key.toLowerCase() : key;
  return [...modifiers, name].join('+');
}

/** The presses of a shortcut as this machine writes them, one text a press. */
export function displayOf(keys: string, mac = isMac): readonly string[] {
  return keys.split(' ').map((press) => {
    const parts = press.split(/(?<=\w|\])\+/);
    const key = parts.pop() ?? '';
    const modifiers = parts.flatMap((part) => {
      if (part === '[Shift]') return [];
      if (part === '$mod') return [mac ? '⌘' : 'Ctrl'];
      if (part === 'Shift') return [mac ? '⇧' : 'Shift'];
      if (part === 'Alt') return [mac ? '⌥' : 'Alt'];
      return [part === 'Control' ? (mac ? '⌃' : 'Ctrl') : part];
    });
    const name = NAMES[key] ?? (key.length === 1 && modifiers.length > 0 ? key.toUpperCase() : key);
    return [...modifiers, name].join(mac ? '' : ' ');
  });
}
