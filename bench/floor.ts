// This machine's own limits: one synchronous commit, one loopback HTTP round trip, one fdatasync.
import { createTestDatabase } from '@slipway/testing';
import { commitFloor, fdatasyncFloor, loopbackFloor } from './measure/floor.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

export default async function run(report: Report): Promise<void> {
  const n = quick(2_000, 20);
  const database = await createTestDatabase();
  try {
    report.figure({ figure: 'synchronous-commit-p50', value: await commitFloor(database.ownerUrl, n), unit: 'ms', n });
  } finally {
    await database.close();
  }
  report.figure({ figure: 'loopback-http-p50', value: await loopbackFloor(n), unit: 'ms', n });
  report.figure({ figure: 'fdatasync-p50', value: await fdatasyncFloor(undefined, n), unit: 'ms', n });
}
