/** How full something is, and whether that is worth a word: at three quarters, and at nine tenths. */
export interface Fill {
  /** 0 to 1. */
  readonly share: number;
  readonly level: 'free' | 'filling' | 'nearly-full';
}

const FILLING = 0.75;
const NEARLY_FULL = 0.9;

/** `null` where there is no limit. What is more than the limit is all of it. */
export function fillOf(used: number, limit: number | null): Fill | null {
  if (limit === null || !(limit > 0) || !(used >= 0)) return null;
  const share = Math.min(1, used / limit);
  return { share, level: share >= NEARLY_FULL ? 'nearly-full' : share >= FILLING ? 'filling' : 'free' };
}

/** Whole percent; something that is not nothing never reads as 0, nor something that is not all as 100. */
export function percentOf(share: number): number {
  const rounded = Math.round(share * 100);
  if (share > 0 && rounded === 0) return 1;
  return share < 1 && rounded === 100 ? 99 : rounded;
}
