'use client';
import { useCallback, useSyncExternalStore } from 'react';
import { noteWriting } from './kept-writing.ts';

const CHANGED = 'slipway:stored';

/**
 * A string kept in this browser; changed to a value, or by what it is by then. Storage that is full or forbidden loses
 * the value on reload, and nothing else.
 */
export function useStored(
  key: string,
  fallback: string,
): [string, (value: string | ((before: string) => string)) => void] {
  const value = useSyncExternalStore(
    subscribe,
    () => read(key) ?? fallback,
    () => fallback,
  );
  return [
    value,
    useCallback((next) => write(key, typeof next === 'function' ? next(read(key) ?? fallback) : next), [key, fallback]),
  ];
}

const unsaved = new Map<string, string>();

function read(key: string): string | null {
  try {
    return unsaved.get(key) ?? window.localStorage.getItem(key);
  } catch {
    return unsaved.get(key) ?? null;
  }
}

function write(key: string, value: string): void {
  try {
    window.localStorage.setItem(key, value);
    noteWriting(window.localStorage, key, Date.now());
    unsaved.delete(key);
  } catch {
    unsaved.set(key, value);
  }
  window.dispatchEvent(new Event(CHANGED));
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('storage', listener);
  window.addEventListener(CHANGED, listener);
  return () => {
    window.removeEventListener('storage', listener);
    window.removeEventListener(CHANGED, listener);
  };
}
