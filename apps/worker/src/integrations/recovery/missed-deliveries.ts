import type { HookDeliveries, HookDelivery } from '@slipway/integrations';

/** How long providers keep deliveries to be sent again: GitHub three days. Milliseconds. */
export const KEPT_MS = 3 * 24 * 60 * 60_000;
/** Read again, since a provider lists an attempt some time after it was made. Milliseconds. */
const OVERLAP_MS = 10 * 60_000;
/** Of a hundred attempts; more came than in a long outage. */
const MAX_PAGES = 30;

/** The newest attempt of a delivery of which none has succeeded. */
export interface Missed {
  readonly attempt: HookDelivery;
  /** When it was first tried. */
  readonly failedAt: Date;
}

export interface Looked {
  /** The oldest first. */
  readonly missed: readonly Missed[];
  /** False: there are older ones that were not read, and are lost. */
  readonly whole: boolean;
}

/** Failed deliveries since then with a single attempt: one already sent again is not requested a second time. */
export async function missedSince(deliveries: HookDeliveries, until: Date, now: Date): Promise<Looked> {
  const since = Math.max(until.getTime() - OVERLAP_MS, now.getTime() - KEPT_MS);
  const byDelivery = new Map<string, HookDelivery[]>();
  let cursor: string | null = null;
  let whole = false;
  for (let page = 0; page < MAX_PAGES && !whole; page += 1) {
    const { items, next } = await deliveries.list(cursor);
    for (const each of items) byDelivery.set(each.deliveryId, [...(byDelivery.get(each.deliveryId) ?? []), each]);
    whole = next === null || items.some(({ at }) => at.getTime() < since);
    cursor = next;
  }
  const missed = [...byDelivery.values()].flatMap((attempts) => {
    const [attempt] = attempts;
    return attempt === undefined || attempts.length > 1 || attempt.succeeded || attempt.at.getTime() < since
      ? []
      : [{ attempt, failedAt: attempt.at }];
  });
  return { missed: missed.sort((one, other) => one.failedAt.getTime() - other.failedAt.getTime()), whole };
}
