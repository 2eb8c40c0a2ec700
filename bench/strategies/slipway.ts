/**
 * runtime-api's own code on its own schema: leased slots, batches, quota, idempotency, session, claim and note. Not the
 * activation that follows: none of the others has one.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createIds, systemClock } from '@slipway/domain';
import { createLogger } from '@slipway/telemetry';
import { WarmSlots } from '../../apps/runtime-api/dist/claims/warm-slots.js';
import { noFailpoints } from '../../apps/runtime-api/dist/failpoints.js';
import type { MakeStrategy } from './claim-strategy.ts';
import { POOL } from './stock/stock-of-runtime.ts';

/**
 * Organizations among which the claims are spread: the row that counts what one of them has is locked until the commit.
 */
const ORGS = 24;
const CAP = 100_000;
/** Longest wait for a turn in the queue before the claim is made again. Milliseconds. */
const TURN_MS = 1_000;

export const slipway: MakeStrategy = async ({ db, replica }) => {
  const pool = {
    poolId: POOL,
    image: 't',
    imageReference: null,
    runtimeClass: null,
    size: 1,
    bounds: { min: 10, max: 10 },
    maxAgeSeconds: 3_600,
  } as const;
  const warmSlots = new WarmSlots(
    { db, logger: createLogger('race', 'warn'), failpoints: noFailpoints, pools: [pool] },
    { replicaId: `race-${replica}`, leaseSeconds: 15, deadlineMs: 30_000, defaultCap: CAP },
  );
  warmSlots.start();
  const ids = createIds(systemClock);
  // As long as the sealed ones are.
  const sealedKey = randomBytes(72);
  const sealedEnvironment = randomBytes(600);
  const stopped = new AbortController();
  let next = replica;
  return {
    claim: async (claimId) => {
      next += 1;
      const request = {
        orgId: `org_${next % ORGS}`,
        sessionId: claimId,
        poolId: POOL,
        cost: 1,
        lane: 'interactive',
        claimId: ids.prefixed('clm'),
        runtimeId: ids.prefixed('run'),
        requestHash: createHash('sha256').update(claimId).digest('hex'),
        sealedKey,
        sealedEnvironment,
        abandon: null,
      } as const;
      for (;;) {
        const outcome = await warmSlots.bind(request);
        if (outcome.outcome === 'bound' || outcome.outcome === 'replay') return outcome.claim.slotId;
        if (outcome.outcome !== 'queued') throw new Error(`${claimId} was answered with ${outcome.outcome}`);
        await warmSlots.waitForTurn(POOL, outcome.claimId, TURN_MS, stopped.signal);
      }
    },
    stop: async () => {
      stopped.abort();
      await warmSlots.close();
    },
  };
};
