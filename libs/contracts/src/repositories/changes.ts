import { z } from 'zod';
import { GitCommit, GitRepository } from './git.js';

/** What an agent did to the files of its workspace, as the app reports it. */

export const FileChange = z.object({
  path: z.string(),
  status: z.enum(['ADDED', 'DELETED', 'UPDATED', 'MOVED']),
  additions: z.int().nonnegative(),
  deletions: z.int().nonnegative(),
  /** No text diff: the file is binary, or larger than the limit. */
  binary: z.boolean(),
  /**
   * What the file holds now, as a name: two alike mean the same content. Absent where the sandbox does not say.
   */
  hash: z.string().max(100).optional(),
});
export type FileChange = z.infer<typeof FileChange>;
/** A folder with changed files that are not listed one by one, since there are too many. */
export const FolderChange = z.object({
  /** From the top folder of the repository, without a slash at its end. */
  path: z.string(),
  files: z.int().positive(),
  additions: z.int().nonnegative(),
  deletions: z.int().nonnegative(),
});
export type FolderChange = z.infer<typeof FolderChange>;
/** Most files that one answer lists; of more, `folders` says where they are. */
export const MAX_LISTED_FILES = 5_000;

/**
 * `base` is the commit that the work began from; of another repository than the conversation's own it is `null`. `live:
 * false` says the sandbox is away and this is what was last seen.
 */
export const Changes = z.object({
  /** All below the folder that was asked for, at most 5,000; where there are more, those right in it. */
  files: z.array(FileChange),
  /** Empty where all files are listed. Ask for one of them with `folder`. */
  folders: z.array(FolderChange).default([]),
  /** Files that are neither in `files` nor in `folders`. */
  left: z.int().nonnegative().default(0),
  base: z.string().nullable(),
  live: z.boolean(),
});
export type Changes = z.infer<typeof Changes>;

/**
 * `base`: where the work began. `turn`: when the last message came. `looked`: when the caller last said that they had
 * looked at the changes. A hash: what that commit did.
 */
export const ChangesAgainst = z
  .string()
  .regex(/^(base|turn|looked|[0-9a-f]{4,64})$/, 'base, turn, looked, or the hash of a commit');

export const ChangesQuery = z.object({
  against: ChangesAgainst.default('base'),
  /** Another repository of the workspace than the conversation's own, as `GET …/repositories` names it. */
  repository: z.string().min(1).max(4096).optional(),
});
export type ChangesQuery = z.output<typeof ChangesQuery>;
export const ListChangesQuery = ChangesQuery.extend({
  /** Only files below it, from the top folder of the repository. */
  folder: z.string().min(1).max(4096).regex(/[^/]$/, 'a folder, without a slash at its end').optional(),
});
export type ListChangesQuery = z.output<typeof ListChangesQuery>;
export const DiffQuery = ChangesQuery.extend({ path: z.string().max(4096).optional() });
export type DiffQuery = z.output<typeof DiffQuery>;

/**
 * What the caller has seen: each changed file against the base of the conversation's own repository, and its hash.
 * Absent: whatever there is. Where it is given and there is something else by now, nothing is marked.
 */
export const MarkLooked = z.strictObject({
  seen: z
    .string()
    .regex(/^[0-9a-f]{1,32}$/, 'a hash of the files')
    .optional(),
});
export type MarkLooked = z.output<typeof MarkLooked>;

export const ProvenanceQuery = z.object({
  /** A file, from the top folder of its repository. */
  path: z.string().min(1).max(4096),
  repository: ChangesQuery.shape.repository,
});
export type ProvenanceQuery = z.output<typeof ProvenanceQuery>;
/** Lines in a row of a file, as the log last saw it, that one step of the agent wrote. */
export const WrittenLines = z.object({
  line: z.int(),
  endLine: z.int(),
  /** Position of the step in the log. */
  seq: z.int(),
  /** Of the lines: where there are others by now, who wrote them is not known. */
  hash: z.string(),
});
export type WrittenLines = z.infer<typeof WrittenLines>;
/** What the edit tools of the agent wrote. Of what commands and users wrote, the log says nothing. */
export const Provenance = z.object({ lines: z.array(WrittenLines) });
export type Provenance = z.infer<typeof Provenance>;

export const WorkspaceRepository = GitRepository.extend({
  /** The one that the conversation began with. */
  own: z.boolean(),
});
export type WorkspaceRepository = z.infer<typeof WorkspaceRepository>;
/**
 * The conversation's own first. `cut`: there may be more. `live: false` says that the sandbox is away, or does not
 * answer: which there are is then not known, and `data` is empty.
 */
export const WorkspaceRepositories = z.object({
  data: z.array(WorkspaceRepository),
  cut: z.boolean(),
  live: z.boolean().default(true),
});
export type WorkspaceRepositories = z.infer<typeof WorkspaceRepositories>;

export const WorkspaceCommit = z.object({
  hash: GitCommit.shape.sha,
  subject: z.string(),
  author: z.string(),
  /** When it was written. */
  at: z.iso.datetime({ offset: true }),
  files: z.int().nonnegative(),
  /** Made after the work of the conversation began; `null` where that is not known. */
  ofThisWork: z.boolean().nullable(),
});
export type WorkspaceCommit = z.infer<typeof WorkspaceCommit>;
export const WorkspaceCommitsQuery = z.object({
  repository: ChangesQuery.shape.repository,
  cursor: z.string().max(100).optional(),
  limit: z.coerce.number().int().min(1).max(100).default(30),
});
export type WorkspaceCommitsQuery = z.output<typeof WorkspaceCommitsQuery>;
export const WorkspaceCommits = z.object({
  data: z.array(WorkspaceCommit),
  page: z.object({ nextCursor: z.string().nullable() }),
});
export type WorkspaceCommits = z.infer<typeof WorkspaceCommits>;
