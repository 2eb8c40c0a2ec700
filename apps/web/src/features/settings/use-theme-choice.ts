'use client';
import type { MySettings } from '@slipway/contracts/identity';
import { useTheme } from 'next-themes';
import { useSaveMySettings } from './use-my-settings.ts';

/**
 * The theme of this browser at once, and of the account in the background. A server that does not answer leaves it the
 * choice of this browser.
 */
export function useThemeChoice(): [string, (theme: string) => void] {
  const { theme = 'system', setTheme } = useTheme();
  const save = useSaveMySettings();
  return [
    theme,
    (next) => {
      setTheme(next);
      save({ theme: next as MySettings['theme'] }).catch(() => {});
    },
  ];
}
