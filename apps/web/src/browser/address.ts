'use client';
import { useSearchParams } from 'next/navigation';
import { useCallback } from 'react';

/**
 * One value of the address. Setting it asks the server for nothing: `history` is written directly, and Next follows.
 * `push` makes Back undo it, `replace` does not.
 */
export function useAddressValue(
  name: string,
): [string | null, (value: string | null, how?: 'push' | 'replace') => void] {
  const value = useSearchParams().get(name);
  const set = useCallback(
    (next: string | null, how: 'push' | 'replace' = 'replace') => {
      const url = new URL(window.location.href);
      if (next === null) url.searchParams.delete(name);
      else url.searchParams.set(name, next);
      if (how === 'push') window.history.pushState(null, '', url);
      else window.history.replaceState(null, '', url);
    },
    [name],
  );
  return [value, set];
}
