import { z } from 'zod';
import { SecurityRisk } from './confirmation.js';
import { ConversationSummary } from './conversations.js';

/** Longest look back of the Desk: what nothing has happened to for longer rests. Days. */
export const DESK_DAYS = 30;
/** Most conversations of one answer. */
export const MAX_DESK_ROWS = 200;
/** Most of a command or an answer that stands in a row. UTF-16 code units. */
export const MAX_ASKED_LENGTH = 500;
/** Longest snooze. Days. */
export const MAX_SNOOZE_DAYS = 30;

/** Longest key of a decision. */
const KEY_LENGTH = 300;

/** How far a user has looked, and into which state of the workspace. */
export const ReadMark = z.object({
  /** Position in the log; 0: nothing yet. */
  seq: z.int().nonnegative(),
  treeHash: z.string().nullable(),
});
export type ReadMark = z.infer<typeof ReadMark>;

export const PutReadMark = z.strictObject({
  /** Position in the log that was looked at. One before the mark changes nothing; one past the end is its end. */
  seq: z.int().nonnegative(),
  /** Git's hash of the tree that was seen with it. */
  treeHash: z
    .string()
    .regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/, 'is not the hash of a tree')
    .optional(),
});
export type PutReadMark = z.infer<typeof PutReadMark>;

/** What a user did with a row of their own Desk. */
export const DeskMark = z.object({
  /** Key of the decision that is done for now; `null`: none is. */
  doneKey: z.string().nullable(),
  /** `null`: not snoozed. */
  snoozedUntil: z.iso.datetime().nullable(),
  /** Never on this user's Desk until they take it back. */
  muted: z.boolean(),
});
export type DeskMark = z.infer<typeof DeskMark>;

/** Fields that are not given stay; `null` takes one back. */
export const SetDeskMark = z
  .strictObject({
    doneKey: z
      .string()
      .min(1)
      .max(KEY_LENGTH)
      .refine((value) => !value.includes('\u0000'), 'must not contain the character NUL')
      .nullable()
      .optional(),
    snoozedUntil: z.iso.datetime().nullable().optional(),
    muted: z.boolean().optional(),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), 'says nothing');
export type SetDeskMark = z.infer<typeof SetDeskMark>;

/** What an agent asks leave for: the first action that waits, and how many do. */
export const DeskApproval = z.object({
  /** Id of the first action. */
  actionId: z.uuid(),
  tool: z.string(),
  /** Its command, path or address; empty: it has none. */
  text: z.string(),
  /** The worst of all that wait. */
  risk: SecurityRisk,
  actions: z.int().positive(),
});
export type DeskApproval = z.infer<typeof DeskApproval>;

/** A host or the use of a credential, asked for: the request that has waited longest, and how many wait. */
export const DeskEgress = z.object({
  requestId: z.string(),
  host: z.string(),
  port: z.int().positive(),
  /** Nobody of the organization has ever allowed the host. */
  firstTime: z.boolean(),
  /** Since when it waits. */
  at: z.iso.datetime(),
  requests: z.int().positive(),
  /** Of a request to use a credential at the host; absent: the host itself is asked for. */
  use: z.object({ name: z.string(), method: z.string(), path: z.string() }).optional(),
});
export type DeskEgress = z.infer<typeof DeskEgress>;

/** Last thing that the agent said to people. */
export const DeskWord = z.object({
  seq: z.int().positive(),
  /** `message`: it wrote to people; `finish`: it ended its task with it. */
  kind: z.enum(['message', 'finish']),
  /** Its end. */
  text: z.string(),
});
export type DeskWord = z.infer<typeof DeskWord>;

/** What an agent that works does: its last action. */
export const DeskAction = z.object({ tool: z.string(), text: z.string() });

/** What a conversation's row on everybody's Desk is made from. */
export const DeskConversation = ConversationSummary.omit({ readSeq: true, pinned: true }).extend({
  approval: DeskApproval.nullable(),
  /** `null`: no request for a host waits. */
  egress: DeskEgress.nullable(),
  /** Of one that works. */
  doing: DeskAction.nullable(),
  lastWord: DeskWord.nullable(),
  /** Last line of the log that people read; lines of the platform itself, such as a pause, are none. */
  saidSeq: z.int().nonnegative(),
  /** Since when it is as it is. */
  since: z.iso.datetime(),
  /** Users whose messages wait or who began it. */
  people: z.int().positive(),
  /** Who answered the agent last, and how; `null`: nobody lately. */
  answered: z.object({ by: z.string(), accepted: z.boolean(), at: z.iso.datetime() }).nullable(),
});
export type DeskConversation = z.infer<typeof DeskConversation>;

export const DECISION_KINDS = ['approve', 'allow', 'answer', 'review', 'unblock', 'merge'] as const;
export const DeskDecision = z.object({
  /** `approve`: an action of the agent; `allow`: a host that its sandbox asks for. */
  kind: z.enum(DECISION_KINDS),
  /** Of what is to be decided: another question has another one. */
  key: z.string(),
  /** What it is about to take a person. Seconds. */
  seconds: z.number().positive(),
  /** What waiting costs over those seconds; the dearest comes first. */
  score: z.number().nonnegative(),
});
export type DeskDecision = z.infer<typeof DeskDecision>;

export const DESK_GROUPS = ['needs-you', 'ready', 'working', 'resting'] as const;
export const DeskGroup = z.enum(DESK_GROUPS);
export type DeskGroup = z.infer<typeof DeskGroup>;

export const DeskRow = z.object({
  conversation: DeskConversation,
  mark: z.object({ ...ReadMark.shape, ...DeskMark.shape }),
  group: DeskGroup,
  /** The dearest first; more than one where a pull request waits beside a question. */
  decisions: z.array(DeskDecision),
  /** Whether the caller may decide, and what keeps them from it. */
  mayDecide: z.enum(['yes', 'permission', 'four-eyes']),
});
export type DeskRow = z.infer<typeof DeskRow>;

export const DeskQuery = z.object({
  /** Id of a user or service account: conversations of others are left out. */
  owner: z
    .string()
    .min(1)
    .max(200)
    .refine((value) => !value.includes('\u0000'), 'must not contain the character NUL')
    .optional(),
});
export type DeskQuery = z.infer<typeof DeskQuery>;

/** Needs you, Ready and Working, in this order; resting ones are left out. */
export const Desk = z.object({
  rows: z.array(DeskRow).max(MAX_DESK_ROWS),
  /** There are more than are shown. */
  more: z.boolean(),
  /** When it was read. */
  at: z.iso.datetime(),
});
export type Desk = z.infer<typeof Desk>;
