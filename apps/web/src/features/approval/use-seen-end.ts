import { type RefObject, useEffect, useRef, useState } from 'react';

/**
 * Was the end of a scrolling list in view once? Until then nobody has seen all of it.
 * @param of what the list shows; `null` while a part of it is not there yet. Another value begins anew.
 * @returns `further`, which scrolls on by most of a screenful; `goesOn`: the list was looked at, and its end is below.
 */
export function useSeenEnd(of: string | null): {
  readonly list: RefObject<HTMLDivElement | null>;
  readonly end: RefObject<HTMLDivElement | null>;
  readonly seen: boolean;
  readonly goesOn: boolean;
  readonly further: () => void;
} {
  const list = useRef<HTMLDivElement>(null);
  const end = useRef<HTMLDivElement>(null);
  const [seenOf, setSeenOf] = useState<string | null>(null);
  const [lookedAt, setLookedAt] = useState<string | null>(null);
  useEffect(() => {
    if (of === null || list.current === null || end.current === null) return;
    const watch = new IntersectionObserver(
      (entries) => {
        setLookedAt(of);
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeenOf(of);
      },
      { root: list.current },
    );
    watch.observe(end.current);
    return () => watch.disconnect();
  }, [of]);
  const further = () => list.current?.scrollBy({ top: list.current.clientHeight * 0.85 });
  const seen = of !== null && seenOf === of;
  return { list, end, seen, goesOn: of !== null && lookedAt === of && !seen, further };
}
