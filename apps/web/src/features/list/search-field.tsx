'use client';
import { Input } from '@slipway/ui';
import { Search } from 'lucide-react';
import { useEffect, useState } from 'react';

/** A pause in typing after which a search is asked for. Milliseconds. */
const PAUSE_MS = 250;

/** Searches a list. What is typed goes to `onChange` after a pause; the caller holds it in the address. */
export function SearchField({ label, value, onChange, className }: { label: string; value: string; onChange: (value: string) => void; className?: string }) {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  if (known !== value) {
    // The address changed by other means: Back, or "Clear the filters".
    setKnown(value);
    setTyped(value);
  }
  useEffect(() => {
    if (typed === known) return;
    const timer = setTimeout(() => {
      setKnown(typed);
      onChange(typed);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, known, onChange]);
  return (
    <span className={`relative block min-w-0 ${className ?? ''}`}>
      <Search aria-hidden className="pointer-events-none absolute top-1/2 left-2.5 size-4 -translate-y-1/2 text-ink-muted" />
      <Input
        type="search"
        aria-label={label}
        placeholder={label}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        className="pl-8"
      />
    </span>
  );
}
