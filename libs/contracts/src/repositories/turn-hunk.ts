import { z } from 'zod';

/** Longest hunk that is turned. UTF-16 code units. */
export const MAX_HUNK_LENGTH = 200_000;

const TurnedHunk = z.strictObject({
  /** The changed file, from the top folder of its repository. */
  file: z.string().min(1).max(4096),
  /** Of the whole file, as the list of changes says it. */
  status: z.enum(['ADDED', 'DELETED', 'UPDATED', 'MOVED']),
  /** As the patch has it, from its `@@` on. */
  hunk: z.string().max(MAX_HUNK_LENGTH),
  /** `revert`: to what was there before the change. `restore`: to what the change made. */
  direction: z.enum(['revert', 'restore']),
});

/** One hunk of the changes that a user takes back, or puts back. */
export const TurnHunk = TurnedHunk.extend({
  direction: TurnedHunk.shape.direction.default('revert'),
  /** Another repository of the workspace than the conversation's own. */
  repository: z.string().min(1).max(4096).optional(),
});
export type TurnHunk = z.output<typeof TurnHunk>;

/** `POST /git/turn_hunk` of action-server. `path` lies in the repository. */
export const TurnHunkRequest = TurnedHunk.extend({ path: z.string().max(4096) });
export type TurnHunkRequest = z.output<typeof TurnHunkRequest>;

/** As agent-server is asked: `notice` is the agent's line in the log, under `event_id`. */
export const TurnHunkForAgent = TurnHunkRequest.extend({ event_id: z.uuid(), notice: z.string().min(1).max(10_000) });
export type TurnHunkForAgent = z.output<typeof TurnHunkForAgent>;
