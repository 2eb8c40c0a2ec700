import type { TracePart } from '@slipway/contracts/conversations';

/** Colours of bars. None is the only sign of its part: each bar stands under its name. */
export const PART_COLOURS: Readonly<Record<TracePart, string>> = {
  start: 'bg-ansi-cyan',
  model: 'bg-accent',
  tool: 'bg-ok',
  approval: 'bg-warn',
  condense: 'bg-ansi-magenta',
  other: 'bg-line-strong',
};
