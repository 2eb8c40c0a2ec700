import type { KeyObject } from 'node:crypto';
import { ARCHIVE_AUDIENCE, ARCHIVE_TOKEN_SECONDS, ArchiveClaims, type ArchivePart } from '@slipway/contracts/agent';
import { SlipwayError } from '@slipway/errors';
import { readTransferToken } from '../activation/activation-token.js';

export interface ExpectedTransfer {
  readonly key: KeyObject;
  readonly slotId: string;
  readonly podUid: string;
  readonly op: 'read' | 'write';
  readonly part: ArchivePart;
  readonly nowMs: number;
}

/**
 * @throws SlipwayError `auth.missing` for a bad token, `permission.denied` for another sandbox, part or direction. A
 * token valid for longer than a minute is refused.
 */
export function verifyArchive(token: string | undefined, expected: ExpectedTransfer): void {
  const claims = readTransferToken(token, ArchiveClaims, {
    ...expected,
    audience: ARCHIVE_AUDIENCE,
    what: 'archive',
    maxSeconds: ARCHIVE_TOKEN_SECONDS,
  });
  const { slot_id: slotId, pod_uid: podUid, op, part } = claims;
  if (slotId !== expected.slotId || podUid !== expected.podUid || op !== expected.op || part !== expected.part)
    throw new SlipwayError('permission.denied', 'The token is for another sandbox, another part or another direction.');
}
