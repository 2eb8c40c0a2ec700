'use client';
import { Input } from '@slipway/ui';
import { Search } from 'lucide-react';
import { useEffect, useState } from 'react';
import { type TypedSearch, wantedOf, withAddress } from './typed-search.ts';

/** A pause in typing after which a search is asked for. Milliseconds. */
const PAUSE_MS = 250;

/** Searches a list. What is typed goes to `onChange` after a pause; the caller holds it in the address. */
export function SearchField({
  label,
  value,
  onChange,
  className,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  className?: string;
}) {
  const [state, setState] = useState<TypedSearch>({ typed: value, seen: value, asked: [] });
  const current = withAddress(state, value);
  if (current !== state) setState(current);
  const { typed } = current;
  const wanted = wantedOf(current);
  useEffect(() => {
    if (typed === wanted) return;
    const timer = setTimeout(() => {
      setState((before) => ({ ...before, asked: [...before.asked, typed] }));
      onChange(typed);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, wanted, onChange]);
  return (
    <span className={`relative block min-w-0 ${className ?? ''}`}>
      <Search
        aria-hidden
        className="pointer-events-none absolute top-1/2 left-2.5 size-4 -translate-y-1/2 text-ink-muted"
      />
      <Input
        type="search"
        aria-label={label}
        placeholder={label}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => setState((before) => ({ ...before, typed: event.target.value }))}
        className="pl-8"
      />
    </span>
  );
}
