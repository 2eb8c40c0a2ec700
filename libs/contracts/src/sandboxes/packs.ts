import { z } from 'zod';

/** Between worker and runtime-api: the objects of checkpoints, which nobody else names. */

/** Id of a pack, and the name of its object. */
export const PackId = z.string().regex(/^[0-9a-f]{32}$/, 'needs 32 hexadecimal digits');

/** Packs of one call. */
export const MAX_LISTED_PACKS = 1_000;
export const MAX_DELETED_PACKS = 500;

/** `POST /packs/delete`, of the organization of the header. Idempotent. */
export const DeletePacks = z.strictObject({ packs: z.array(PackId).max(MAX_DELETED_PACKS) });
export type DeletePacks = z.infer<typeof DeletePacks>;

/** Where a page of `GET /packs` begins: behind this one. */
export const PackCursor = z.strictObject({ after_org: z.string().optional(), after_pack: PackId.optional() });

/** `GET /packs`: objects of all organizations in order; fewer than `MAX_LISTED_PACKS` are the last ones. */
export const PackPage = z.object({
  packs: z.array(
    z.object({
      org_id: z.string(),
      pack_id: PackId,
      bytes: z.int().nonnegative(),
      /** By the store's clock. */
      stored_at: z.iso.datetime(),
    }),
  ),
});
export type PackPage = z.infer<typeof PackPage>;
