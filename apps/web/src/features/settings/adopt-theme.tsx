'use client';
import { useTheme } from 'next-themes';
import { useEffect, useState } from 'react';
import { useMySettings } from './use-my-settings.ts';

/** Where next-themes keeps the choice of this browser. */
const CHOSEN_HERE = 'theme';

/** In a browser where no theme was ever chosen the account's holds. Asks the server only then. */
export function AdoptTheme() {
  const [unchosen, setUnchosen] = useState(false);
  useEffect(() => {
    try {
      setUnchosen(window.localStorage.getItem(CHOSEN_HERE) === null);
    } catch {
      // Storage is forbidden: the system's theme holds.
    }
  }, []);
  return unchosen ? <Adopt /> : null;
}

function Adopt() {
  const theme = useMySettings().data?.theme;
  const { setTheme } = useTheme();
  useEffect(() => {
    if (theme !== undefined && theme !== 'system') setTheme(theme);
  }, [theme, setTheme]);
  return null;
}
