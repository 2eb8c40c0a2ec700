import { z } from 'zod';
import { ListedConnection } from './repositories.js';

/** What waits for a user at the git hosts that the organization is connected to: a task to start with one press. */

export const SUGGESTED_KINDS = [
  'RED_DEFAULT_BRANCH',
  'MERGE_CONFLICTS',
  'FAILING_CHECKS',
  'UNRESOLVED_COMMENTS',
  'OPEN_ISSUE',
] as const;

export const SuggestedTask = z.object({
  kind: z.enum(SUGGESTED_KINDS),
  connectionId: z.string(),
  /** `provider:owner/name`: what a conversation takes as its `repository`. */
  repository: z.string(),
  /** `owner/name`. */
  fullName: z.string(),
  /** Of the pull request or issue; `null`: the default branch. */
  number: z.int().positive().nullable(),
  title: z.string(),
  url: z.string().nullable(),
  /** What a conversation takes as its `branch`; `null`: the default branch. */
  branch: z.string().nullable(),
  /** What a conversation takes as its `prompt`. What others wrote is quoted in it as data. */
  prompt: z.string(),
});
export type SuggestedTask = z.infer<typeof SuggestedTask>;

export const SuggestedTasks = z.object({
  /** Of repositories that the user's linked account may write to; the most urgent kind first. */
  data: z.array(SuggestedTask),
  /** What became of each connection to a git host. */
  connections: z.array(ListedConnection),
});
export type SuggestedTasks = z.infer<typeof SuggestedTasks>;
