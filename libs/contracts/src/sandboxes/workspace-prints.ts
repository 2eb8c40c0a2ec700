import { z } from 'zod';

/**
 * Fingerprints of the text of a workspace (docs/decisions/0073), by which credential-broker sees how much of a body is
 * of it. A sandbox says them of itself: nothing but the figures of its own conversation relies on them.
 */

/** Fingerprints of a workspace, and folders that they are of. */
export const MAX_PRINTS = 65_536;
export const MAX_PRINT_FOLDERS = 255;
/** Of each so many consecutive shingles one is selected; a larger workspace has a larger window. A power of two. */
export const PRINT_WINDOWS = [64, 128, 256, 512, 1_024, 2_048, 4_096] as const;
/** Largest answer with fingerprints: four bytes each, and one for its folder, as base64, with the folders' names. */
export const MAX_PRINTS_BYTES = 640 * 1024;

const base64 = (bytes: number) =>
  z
    .string()
    .max(Math.ceil(bytes / 3) * 4)
    .regex(/^[A-Za-z0-9+/]*={0,2}$/);

export const WorkspacePrints = z
  .object({
    window: z.union(PRINT_WINDOWS.map((each) => z.literal(each))),
    /** Below the folder that the conversation works in; `.` is that itself. */
    folders: z.array(z.string().min(1).max(200)).max(MAX_PRINT_FOLDERS),
    /** 32 bits each, the lowest byte first. */
    prints: base64(MAX_PRINTS * 4),
    /** Of each fingerprint the place of its folder in `folders`, as one byte. */
    owners: base64(MAX_PRINTS),
    /** Some files were left out: there are too many, or they are too large together. */
    cut: z.boolean(),
  })
  .refine(({ prints, owners }) => bytesOf(prints) === 4 * bytesOf(owners), { message: 'one folder for each' });
export type WorkspacePrints = z.infer<typeof WorkspacePrints>;

const bytesOf = (text: string): number => Math.floor((text.replace(/=+$/, '').length * 3) / 4);

/** `POST /internal/credentials/v1/prints`, signed with CREDENTIAL_CONTROL_SECRET. */
export const WorkspacePrintsQuestion = z.strictObject({
  claim: z.string().min(1).max(100),
  org: z.string().min(1).max(100),
  conversation: z.string().min(1).max(200),
});
export type WorkspacePrintsQuestion = z.infer<typeof WorkspacePrintsQuestion>;
/** `null`: the sandbox did not answer in time, or not well; asked again, it may have got farther. */
export const WorkspacePrintsAnswer = z.object({ prints: WorkspacePrints.nullable() });
export type WorkspacePrintsAnswer = z.infer<typeof WorkspacePrintsAnswer>;

const Count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
/** Rows of one batch, and rows of a conversation in an hour that are counted by themselves. */
export const MAX_BODY_ROWS = 500;
export const MAX_CONVERSATION_BODY_ROWS = 300;
/** In the place of a content type that is none, or one of too many. */
export const OTHER_TYPE = 'other';

/** What was in the bodies of requests to one opened host since the batch before. */
export const EgressBodyTally = z.strictObject({
  conversation: z.string().min(1).max(200),
  /** Hours since 1970. */
  hour: z.int().min(0),
  host: z.string().min(1).max(253),
  port: z.int().min(0).max(65_535),
  /** `type/subtype` in small letters, `''` where the request named none, or `OTHER_TYPE`. */
  type: z.string().max(100),
  /** `''`: of all bodies; else of the part that is text of this folder, and then only `workspaceBytes` counts. */
  folder: z.string().max(200),
  requests: Count,
  bytes: Count,
  /** Text of the workspace, as it is after unpacking. */
  workspaceBytes: Count,
  /** Of `bytes`, those that were compared with nothing. */
  unreadBytes: Count,
});
export type EgressBodyTally = z.infer<typeof EgressBodyTally>;

/** `POST /internal/credentials/v1/bodies`: counted once, as an `EgressTallyBatch`. */
export const EgressBodyBatch = z.strictObject({
  org: z.string().min(1).max(100),
  source: z.uuid(),
  seq: z.int().min(1),
  rows: z.array(EgressBodyTally).min(1).max(MAX_BODY_ROWS),
});
export type EgressBodyBatch = z.infer<typeof EgressBodyBatch>;
