import type { Step } from './timeline-row.ts';

/** The pictures of an answer, as data URLs or as references to one. */
export function picturesOf(observation: Step['observation']): string[] {
  return (observation?.content ?? []).flatMap((part) => (part.type === 'image' ? part.image_urls : []));
}
