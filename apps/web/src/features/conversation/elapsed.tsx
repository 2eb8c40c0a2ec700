'use client';
import { useEffect, useState } from 'react';
import { longDuration } from '../../browser/format.ts';
import { useView } from './conversation-context.ts';

const TICK_MS = 1_000;

/** For how long the agent has worked, beside the status. Changes once a second, and is not spoken. */
export function Elapsed() {
  const since = useView((view) => view.workingSince);
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (since === null) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [since]);
  if (since === null) return null;
  return (
    <span role="timer" aria-live="off" className="shrink-0 text-xs text-ink-muted tabular-nums">
      {longDuration(now - Date.parse(since))}
    </span>
  );
}
