import { z } from 'zod';

/**
 * What a signed-in user has still to do before anything but `GET /api/v1/me` answers them: verify the e-mail address,
 * accept the terms of service. Until then the API says 403 with the code `account.<gate>`.
 */
export const GATES = ['email-unverified', 'terms-required'] as const;
export const Gate = z.enum(GATES);
export type Gate = z.infer<typeof Gate>;

/** The terms of service of this installation, as shown to a user. */
export const Terms = z.object({
  version: z.string(),
  url: z.url(),
  /** The version that the user has accepted; `null`: none yet. */
  acceptedVersion: z.string().nullable(),
});
export type Terms = z.infer<typeof Terms>;

/** `POST /api/v1/me/accept-terms`. */
export const AcceptTerms = z.object({
  /**
   * The version that the user was shown; one that is not the present one is refused (`account.terms-changed`). Absent:
   * the present one.
   */
  version: z.string().max(100).optional(),
});
export type AcceptTerms = z.infer<typeof AcceptTerms>;

/**
 * `POST /api/v1/me/verify-email`: where to send the browser, so that the sign-in service mails the user and verifies
 * the address.
 */
export const VerifyEmail = z.object({ url: z.string() });
export type VerifyEmail = z.infer<typeof VerifyEmail>;

/** A browser that is signed in as this user. */
export const MySession = z.object({
  id: z.string(),
  /** The one that asks. */
  current: z.boolean(),
  /** In words: `Firefox on Linux`. */
  device: z.string(),
  /** Where it was last seen from; `null`: not known. */
  address: z.string().nullable(),
  createdAt: z.iso.datetime(),
  /** At most a minute old while it is used. */
  lastSeenAt: z.iso.datetime(),
  /** It ends then, whatever happens in between. */
  expiresAt: z.iso.datetime(),
});
export type MySession = z.infer<typeof MySession>;
/** Most that the list holds, those first that were used last. */
export const MAX_LISTED_SESSIONS = 100;
export const MySessionList = z.object({ data: z.array(MySession) });
export type MySessionList = z.infer<typeof MySessionList>;

/** `POST /api/v1/me/sessions/end-all`. */
export const EndSessions = z.object({
  /** `others`: the one that asks stays. */
  which: z.enum(['others', 'all']).default('others'),
});
export type EndSessions = z.infer<typeof EndSessions>;
export const EndedSessions = z.object({ ended: z.int().min(0) });
export type EndedSessions = z.infer<typeof EndedSessions>;

/**
 * An account of another provider (GitHub, GitLab …) by which the user has signed in, and of which Slipway holds a
 * token. The token itself is never shown.
 */
export const Connection = z.object({
  /** Its name in the sign-in service: `github`. */
  provider: z.string(),
  /** In the provider's words. */
  scopes: z.array(z.string()),
  connectedAt: z.iso.datetime(),
  /** When the token was last taken over from the sign-in service. */
  refreshedAt: z.iso.datetime(),
  /** `null`: it does not end by itself. */
  expiresAt: z.iso.datetime().nullable(),
});
export type Connection = z.infer<typeof Connection>;
export const ConnectionList = z.object({ data: z.array(Connection) });
export type ConnectionList = z.infer<typeof ConnectionList>;

/** Kinds of notifications. */
export const NOTIFICATION_EVENTS = [
  'conversation-waiting',
  'conversation-finished',
  'conversation-failed',
  'membership-changed',
  'budget-reached',
  'new-sign-in',
] as const;
export type NotificationEvent = (typeof NOTIFICATION_EVENTS)[number];
const Channels = z.object({ inApp: z.boolean(), email: z.boolean() });
const said = (inApp: boolean, email: boolean) => Channels.default({ inApp, email });

/** No line ends, which would end a line of git's own, and no angle brackets, which it takes for an address. */
const GitName = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^[^<>\p{Cc}]+$/u, 'letters and spaces, no angle brackets and no control characters');
const GitEmail = z.email().max(254);
/** A BCP 47 tag, or `auto`: as the browser asks. */
const Language = z
  .string()
  .max(20)
  .regex(/^(?:auto|[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)$/, 'a language tag such as en or pt-BR, or auto');

/** What a user has chosen for themselves, in every organization. */
export const UserSettings = z.object({
  theme: z.enum(['system', 'light', 'dark']).default('system'),
  language: Language.default('auto'),
  density: z.enum(['comfortable', 'compact']).default('comfortable'),
  /** Author of an agent's commits for this user; `null`: the name and the address of the account. */
  gitAuthorName: GitName.nullable().default(null),
  gitAuthorEmail: GitEmail.nullable().default(null),
  /**
   * Whether analytics events of this user may be sent, where the installation and the organization allow it too;
   * `null`: never asked, which is a no.
   */
  analytics: z.boolean().nullable().default(null),
  notifications: z
    .object({
      'conversation-waiting': said(true, true),
      'conversation-finished': said(true, false),
      'conversation-failed': said(true, true),
      'membership-changed': said(true, true),
      'budget-reached': said(true, true),
      'new-sign-in': said(false, false),
    } satisfies Record<NotificationEvent, z.ZodType>)
    .prefault({}),
});
export type UserSettings = z.infer<typeof UserSettings>;

/**
 * `GET /api/v1/me/settings`. `version` counts changes and is the ETag too: send it as `If-Match` so that no concurrent
 * change is lost.
 */
export const MySettings = UserSettings.extend({ version: z.int() });
export type MySettings = z.infer<typeof MySettings>;

const SomeChannels = z.strictObject({ inApp: z.boolean().optional(), email: z.boolean().optional() }).optional();
/** `PATCH /api/v1/me/settings`: what is absent stays as it is. */
export const UpdateMySettings = z.strictObject({
  theme: UserSettings.shape.theme.unwrap().optional(),
  language: Language.optional(),
  density: UserSettings.shape.density.unwrap().optional(),
  gitAuthorName: GitName.nullable().optional(),
  gitAuthorEmail: GitEmail.nullable().optional(),
  /** False deletes what waits to be sent. */
  analytics: z.boolean().optional(),
  notifications: z
    .strictObject({
      'conversation-waiting': SomeChannels,
      'conversation-finished': SomeChannels,
      'conversation-failed': SomeChannels,
      'membership-changed': SomeChannels,
      'budget-reached': SomeChannels,
      'new-sign-in': SomeChannels,
    } satisfies Record<NotificationEvent, z.ZodType>)
    .optional(),
});
export type UpdateMySettings = z.infer<typeof UpdateMySettings>;
