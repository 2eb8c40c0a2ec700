import { SecretBox } from '@slipway/auth';
import {
  DATA_KEY_COLUMNS,
  dropDataKeys,
  Envelope,
  MASTER_KEY_COLUMNS,
  type Rotated,
  renewMasterColumn,
  renewValues,
  rewrapDataKeys,
  rotateDataKeys,
} from '@slipway/auth/envelope';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';

const DAY_MS = 86_400_000;

export interface RotationReport {
  readonly renewed: Readonly<Record<string, number>>;
  /** Organizations that got a new data key. */
  readonly rotated: number;
  /** Data keys that nothing needed any more. */
  readonly dropped: number;
  /**
   * Places, never values. Empty: nothing is under another master key than the present one, and ENCRYPTION_KEY_PREVIOUS
   * can go.
   */
  readonly unopened: readonly string[];
}

/**
 * Puts everything that is sealed under the present master key, and with `olderThanDays` values under new data keys.
 * Safe to repeat, to end at any point, and beside running services; one pass is enough as soon as every service has the
 * present key.
 */
export async function rotateKeys(
  pools: { readonly app: SqlPool; readonly runtime: SqlPool },
  keys: { readonly current: string; readonly previous?: string | undefined },
  clock: Clock,
  olderThanDays?: number,
): Promise<RotationReport> {
  const box = new SecretBox(keys.current, keys.previous);
  const envelope = new Envelope(pools.app, box, clock);
  const renewed: Record<string, number> = {};
  const unopened: string[] = [];
  const note = (what: string, result: Rotated): void => {
    renewed[what] = result.renewed;
    unopened.push(...result.unopened);
  };
  note('app.org_data_key', await rewrapDataKeys(pools.app, box));
  for (const column of MASTER_KEY_COLUMNS)
    note(`${column.table}.${column.column}`, await renewMasterColumn(pools[column.database], box, column));
  const rotated =
    olderThanDays === undefined
      ? 0
      : await rotateDataKeys(
          pools.app,
          envelope,
          new Date(clock.now().getTime() - Math.max(0, olderThanDays * DAY_MS - 1)),
        );
  for (const column of DATA_KEY_COLUMNS)
    note(`${column.table}.${column.column}`, await renewValues(pools.app, envelope, column));
  return { renewed, rotated, dropped: await dropDataKeys(pools.app, clock.now()), unopened };
}
