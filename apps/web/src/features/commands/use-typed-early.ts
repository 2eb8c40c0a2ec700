import { useEffect, useState } from 'react';

/** The palette's own field. */
const FIELD = '[cmdk-input]';

/**
 * The words of the palette. Letters that are typed before its field is there and has the focus are among them: they are
 * meant for it, and none of them is a shortcut of the page.
 * @param open which palette is open: another one begins without words
 */
export function useTypedEarly(open: string | null): readonly [string, (words: string) => void] {
  const [words, setWords] = useState('');
  useEffect(() => {
    if (open === null) return;
    setWords('');
    const take = (event: KeyboardEvent): void => {
      if (event.target instanceof Element && event.target.matches(FIELD)) {
        stop();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (event.key === 'Backspace') setWords((before) => before.slice(0, -1));
      else if (event.key.length === 1) setWords((before) => before + event.key);
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    const stop = (): void => document.removeEventListener('keydown', take, { capture: true });
    document.addEventListener('keydown', take, { capture: true });
    return stop;
  }, [open]);
  return [words, setWords];
}
