'use client';
import { useEffect, useState } from 'react';

/**
 * What the user has just chosen, until the mutation that saves it is over; then what is there. A mutation, and the
 * cache that it changes, tell of it a moment after the click: until then a checkbox would fall back.
 */
export function useChosen<T>(saved: T, isPending: boolean): readonly [T, (value: T) => void] {
  const [chosen, setChosen] = useState<{ readonly value: T } | null>(null);
  useEffect(() => {
    if (!isPending) setChosen(null);
  }, [isPending]);
  return [chosen === null ? saved : chosen.value, (value) => setChosen({ value })];
}
