import type { Draft } from './draft.js';

/**
 * Marks the critical path of a turn: from its end backwards, always the span below that ended last, until the turn's
 * begin. Where several were under way, the one that began first counts, since the others waited for nothing. What runs
 * ends `now`.
 */
export function markCriticalPath(root: Draft, now: number): void {
  mark(root, root.end ?? Math.max(root.start, now), now);
}

function mark(draft: Draft, end: number, now: number): void {
  draft.critical = true;
  const endOf = (child: Draft): number => child.end ?? Math.max(child.start, now);
  const byEnd = draft.children.toSorted((a, b) => endOf(b) - endOf(a));
  let at = end;
  for (let next = 0; ; ) {
    let longest: Draft | null = null;
    // What began no sooner than the path has come to is under the span that was taken.
    for (let child = byEnd[next]; child !== undefined && endOf(child) >= at; next += 1, child = byEnd[next])
      if (child.start < (longest?.start ?? at)) longest = child;
    if (longest !== null) {
      mark(longest, Math.min(endOf(longest), at), now);
      at = longest.start;
    } else if (byEnd[next] !== undefined) at = endOf(byEnd[next] as Draft);
    else return;
  }
}
