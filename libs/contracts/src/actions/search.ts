import { z } from 'zod';
import { baseObservation } from './observation.js';
import type { ToolContract } from './tool-contract.js';

/** Most files, lines or entries that one search answers with. */
export const MAX_SEARCH_RESULTS = 100;
export const MAX_LISTED_ENTRIES = 500;

const pattern = z.string().min(1).max(1_000);
/** Absolute, or from the directory in which the agent's shell is. */
const place = z.string().min(1).max(4_096);

export const GlobAction = z.looseObject({
  kind: z.literal('GlobAction'),
  /** Without a slash it matches at every depth; with one, from `path` on. */
  pattern,
  path: place.nullish(),
});
export const GrepAction = z.looseObject({
  kind: z.literal('GrepAction'),
  /** A regular expression as ripgrep reads it. */
  pattern,
  path: place.nullish(),
  /** Glob of the files to search. */
  include: pattern.nullish(),
});
export const ListDirectoryAction = z.looseObject({
  kind: z.literal('ListDirectoryAction'),
  dir_path: place.default('.'),
  /** Also what is in the directories below it: two levels. */
  recursive: z.boolean().default(false),
});
export type GlobAction = z.output<typeof GlobAction>;
export type GrepAction = z.output<typeof GrepAction>;
export type ListDirectoryAction = z.output<typeof ListDirectoryAction>;

export const GlobObservation = baseObservation.extend({
  kind: z.literal('GlobObservation'),
  /** Absolute; the one that was changed last comes first. */
  files: z.array(z.string()),
  pattern: z.string(),
  search_path: z.string(),
  truncated: z.boolean(),
});
export const GrepObservation = baseObservation.extend({
  kind: z.literal('GrepObservation'),
  /** Absolute paths of the files that the lines in `content` are of, in their order. */
  matches: z.array(z.string()),
  pattern: z.string(),
  search_path: z.string(),
  include_pattern: z.string().nullable(),
  truncated: z.boolean(),
});
export const FileEntry = z.object({
  name: z.string(),
  /** Absolute. */
  path: z.string(),
  is_directory: z.boolean(),
  /** Bytes; 0 for what is no file. */
  size: z.number(),
  modified_time: z.iso.datetime(),
});
export const ListDirectoryObservation = baseObservation.extend({
  kind: z.literal('ListDirectoryObservation'),
  dir_path: z.string().nullable(),
  entries: z.array(FileEntry),
  total_count: z.int(),
  is_truncated: z.boolean(),
});
export type FileEntry = z.infer<typeof FileEntry>;
export type GlobObservation = z.infer<typeof GlobObservation>;
export type GrepObservation = z.infer<typeof GrepObservation>;
export type ListDirectoryObservation = z.infer<typeof ListDirectoryObservation>;

export const SEARCH_TOOLS = [
  {
    action: GlobAction,
    observation: GlobObservation,
    runsIn: 'sandbox',
    activity: 'look',
    hookNames: ['Glob'],
    openhands: { action: ['pattern', 'path'], observation: ['files', 'pattern', 'search_path', 'truncated'] },
  },
  {
    action: GrepAction,
    observation: GrepObservation,
    runsIn: 'sandbox',
    activity: 'look',
    hookNames: ['Grep'],
    openhands: {
      action: ['pattern', 'path', 'include'],
      observation: ['matches', 'pattern', 'search_path', 'include_pattern', 'truncated'],
    },
  },
  {
    action: ListDirectoryAction,
    observation: ListDirectoryObservation,
    runsIn: 'sandbox',
    activity: 'look',
    hookNames: ['LS'],
    openhands: {
      action: ['dir_path', 'recursive'],
      observation: ['dir_path', 'entries', 'total_count', 'is_truncated'],
    },
  },
] as const satisfies readonly ToolContract[];
