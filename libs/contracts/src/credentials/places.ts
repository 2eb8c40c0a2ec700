import { z } from 'zod';

/**
 * Places: where a brokered credential is used, and nowhere else. Read by app-server, which keeps them, and by
 * credential-broker, which judges each request by them.
 */

/** What a request to a place may ask. CONNECT and TRACE are never passed on. */
export const PLACE_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Most places of one credential, and most paths or references of one place. */
export const MAX_PLACES = 20;
export const MAX_PLACE_ENTRIES = 50;

/** Whether a user is asked before a credential is used: once for its place, or for each request. */
export const PLACE_ASKS = ['never', 'first-use', 'each-use'] as const;
/** Most uses of a place that a conversation may be limited to. */
export const MAX_USES_PER_CONVERSATION = 1_000;

/** One host name in lower case, without a port; never an address and never a single label. */
export const PlaceHost = z
  .string()
  .max(253)
  .transform((host) => host.toLowerCase().replace(/\.$/, ''))
  .pipe(
    z
      .string()
      .regex(
        /^(?=.*[a-z])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
        'is not the name of a host',
      ),
  );

/**
 * `/v1/**`, `/repos/acme/*` and the like: segments, compared literally and by case; `*` is one segment, `**` at the
 * end any number of them, none included.
 */
export const PathPattern = z
  .string()
  .max(500)
  .regex(
    /^(?:\/\*\*|(?:\/(?:\*|[A-Za-z0-9._~!$&'()+,;=:@%-]+))+(?:\/\*\*|\/)?|\/)$/,
    'is not a path: segments, * for one of them, ** at the end for the rest',
  )
  .refine((path) => !path.split('/').some((segment) => segment === '.' || segment === '..'), 'has a dot segment');

/** `refs/heads/slipway/**`, by the same rules as a path. Only branches can be pushed to. */
export const PushRef = z
  .string()
  .max(500)
  .regex(/^refs\/heads\/(?:\*\*|(?:[A-Za-z0-9._+@-]+\/)*(?:[A-Za-z0-9._+@-]+|\*\*|\*))$/, 'is not a branch reference');

export const Place = z.strictObject({
  host: PlaceHost,
  /** Of https. */
  port: z.int().min(1).max(65_535).default(443),
  /** Absent: all of PLACE_METHODS. */
  methods: z.array(z.enum(PLACE_METHODS)).min(1).max(PLACE_METHODS.length).optional(),
  /** Absent: every path. With `git` these are repositories (`/acme/*`), without `.git`. */
  paths: z.array(PathPattern).min(1).max(MAX_PLACE_ENTRIES).optional(),
  /**
   * Only git's smart HTTP passes, and pushes only to these branches: no tag, no deletion. An empty list: reading alone.
   */
  git: z.strictObject({ push: z.array(PushRef).max(MAX_PLACE_ENTRIES).default([]) }).optional(),
  /**
   * What becomes of a request that brings a credential of its own: it is refused, the credential is dropped, or it
   * passes. What passes lets an agent send data to somebody else's account of the same service.
   */
  foreign: z.enum(['refuse', 'drop', 'allow']).default('refuse'),
  /** Whether WebSockets pass; only the first request of each is judged. Absent: they do not. */
  websocket: z.boolean().optional(),
  /** Absent: `never`. At a place of git it is about pushes. A broker that does not know it opens no such place. */
  ask: z.enum(PLACE_ASKS).optional(),
  /** Requests of one conversation that get the credential here; at a place of git its pushes. Absent: any number. */
  usesPerConversation: z.int().min(1).max(MAX_USES_PER_CONVERSATION).optional(),
});
export type Place = z.infer<typeof Place>;
