import { z } from 'zod';
import { EVENT_KINDS } from '../events/conversation-event.js';

/** Most events that one answer about turns or of a search looks at. A longer log is asked for again. */
export const MAX_LOOKED_AT = 10_000;
/** Longest first line of a turn, and longest excerpt of a hit. UTF-16 code units. */
export const MAX_TURN_LINE = 160;
/** Most turns of an answer, and most failures that one turn names. */
export const MAX_TURNS = 2_000;
export const MAX_TURN_FAILURES = 50;

export const TurnsQuery = z.object({
  /** Events with a greater `seq`. */
  after: z.coerce.number().int().min(0).default(0),
  /** Events with a smaller `seq`: what a reader has not loaded. */
  before: z.coerce.number().int().min(1).optional(),
});
export type TurnsQuery = z.infer<typeof TurnsQuery>;

/** What a user's message brought, until the next one. */
export const ConversationTurn = z.object({
  /** Of the message. A turn that goes on in the next answer has the same one there. */
  seq: z.number().int(),
  at: z.iso.datetime(),
  /** First line of the message. */
  text: z.string(),
  /** Edits of files. */
  edits: z.number().int(),
  /** `seq` of calls and runs that failed, the first of them. */
  failures: z.array(z.number().int()),
  /** Times that the agent waited for an approval. */
  questions: z.number().int(),
});
export type ConversationTurn = z.infer<typeof ConversationTurn>;

export const ConversationTurns = z.object({
  data: z.array(ConversationTurn),
  page: z.object({
    /** Goes on after this `seq`; `null`: all of the range was looked at. */
    nextAfter: z.number().int().nullable(),
  }),
});
export type ConversationTurns = z.infer<typeof ConversationTurns>;

/** Most positions of counted rows in one recap, the first of them. */
export const MAX_RECAP_ROWS = 500;

export const RecapQuery = z.object({
  /** Events with a greater `seq`: what the caller has not looked at. */
  after: z.coerce.number().int().min(0),
});
export type RecapQuery = z.infer<typeof RecapQuery>;

/** Counts of what came after a position of the log; each is in the log, nothing is estimated. */
export const ConversationRecap = z.object({
  /** Events with `after < seq <= upto` were looked at: of a long stretch the newest. */
  after: z.int().nonnegative(),
  upto: z.int().nonnegative(),
  /** Calls of tools. */
  steps: z.int().nonnegative(),
  /** Different files that tools for files wrote; what commands wrote is not known. */
  files: z.int().nonnegative(),
  /** Calls and runs that failed, without runs of tests. */
  failures: z.int().nonnegative(),
  /** Runs of tests that ended, and how the last did; `null`: none did. */
  tests: z
    .object({
      runs: z.int().positive(),
      /** Exit code 0. */
      ok: z.boolean(),
      /** `null`: the runner did not say. */
      passed: z.int().nonnegative().nullable(),
      failed: z.int().nonnegative().nullable(),
    })
    .nullable(),
  /** Times that the agent waited for an approval. */
  questions: z.int().nonnegative(),
  /** Messages of the agent. */
  messages: z.int().nonnegative(),
  /** US dollars; `null`: the log does not say. */
  costUsd: z.number().nonnegative().nullable(),
  /** `seq` of all that is counted, ascending; an answer counts at the position of its call. */
  rows: z.array(z.int().positive()).max(MAX_RECAP_ROWS),
});
export type ConversationRecap = z.infer<typeof ConversationRecap>;

export const EventSearchQuery = z.object({
  /** Text, in whichever case, of what users wrote, of what the agent wrote and called, and of answers to calls. */
  q: z.string().trim().min(1).max(200),
  /** Events with a smaller `seq`. */
  before: z.coerce.number().int().min(1).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(100),
});
export type EventSearchQuery = z.infer<typeof EventSearchQuery>;

export const EventHit = z.object({
  seq: z.number().int(),
  kind: z.enum(EVENT_KINDS),
  at: z.iso.datetime(),
  /** The call that it is or that it answers: id of the ActionEvent. `null` for what belongs to no call. */
  actionId: z.string().nullable(),
  /** The text that was found and a little around it, in one line. */
  excerpt: z.string(),
});
export type EventHit = z.infer<typeof EventHit>;

/** Newest first. */
export const EventHits = z.object({
  data: z.array(EventHit),
  page: z.object({
    /** Goes on before this `seq`, even where `data` is empty; `null`: the log was looked through to its beginning. */
    nextBefore: z.number().int().nullable(),
  }),
});
export type EventHits = z.infer<typeof EventHits>;
