'use client';
import { useState } from 'react';

/**
 * What proves, after a cut or a reload, that it is the same page that had taken the browser. In this tab's own storage:
 * no other tab has it.
 */
export interface Hold {
  readonly held: boolean;
  /** @returns the proof; the same one until `end`. */
  begin(): string;
  end(): void;
}

export function useHold(conversation: string): Hold {
  const key = `slipway.browser-hold.${conversation}`;
  const [hold] = useState<Hold>(() => {
    let known = read(key);
    return {
      get held() {
        return known !== null;
      },
      begin: () => {
        known ??= crypto.randomUUID();
        write(key, known);
        return known;
      },
      end: () => {
        known = null;
        write(key, null);
      },
    };
  });
  return hold;
}

/** Storage that is forbidden loses the proof with a reload: then the browser goes back to the agent by itself. */
function read(key: string): string | null {
  try {
    return window.sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

function write(key: string, value: string | null): void {
  try {
    if (value === null) window.sessionStorage.removeItem(key);
    else window.sessionStorage.setItem(key, value);
  } catch {
    // As said at `read`.
  }
}
