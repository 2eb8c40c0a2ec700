import { type Envelope, packKeyContext } from '@slipway/auth/envelope';
import type { ReadablePack } from '@slipway/contracts/sandboxes';
import type { HeldPack, NewPack } from '@slipway/db/checkpoints';
import { SlipwayError } from '@slipway/errors';

/** Keys of packs, which are sealed under the organization's data key and are opened for one transfer. */
export class CheckpointPacks {
  constructor(private readonly envelope: Envelope) {}

  /** @throws SlipwayError `checkpoint.broken` when a data key of theirs was destroyed. */
  open(orgId: string, packs: readonly HeldPack[]): Promise<ReadablePack[]> {
    return Promise.all(
      packs.map(async ({ id, bytes, wrappedKey, keyVersion }) => {
        const sealed = { bytes: wrappedKey, keyVersion };
        const key = await this.envelope.open(orgId, sealed, packKeyContext({ id })).catch((cause: unknown) => {
          throw new SlipwayError('checkpoint.broken', 'The checkpoint cannot be read: its key does not open.', {
            cause,
          });
        });
        return { id, bytes, key };
      }),
    );
  }

  seal(orgId: string, packs: readonly ReadablePack[]): Promise<NewPack[]> {
    return Promise.all(
      packs.map(async ({ id, bytes, key }) => {
        const sealed = await this.envelope.seal(orgId, key, packKeyContext({ id }));
        return { id, bytes, wrappedKey: Buffer.from(sealed.bytes), keyVersion: sealed.keyVersion };
      }),
    );
  }
}
