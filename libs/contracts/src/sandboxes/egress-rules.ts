import { z } from 'zod';
import { AskedUse } from '../credentials/asked-use.js';
import { MAX_PLACE_ENTRIES, PathPattern, PLACE_METHODS } from '../credentials/places.js';
import { EGRESS_ASKERS } from './egress.js';

/**
 * What becomes of a connection that no rule is about. `observe`: it is let through, if a rule might allow it, and its
 * host is recorded.
 */
export const EGRESS_UNKNOWN = ['refuse', 'ask', 'observe'] as const;
/** Whom a rule is for. */
export const EGRESS_RULE_SCOPES = ['organization', 'repository', 'environment', 'conversation'] as const;
export const MAX_EGRESS_RULES = 500;

/** `example.com`, `*.example.com`, `example.com:8443`; a plain address too. */
const HostPatternText = z.string().min(1).max(300);
const Reason = z.string().max(500);

/** What a limited rule is about. Its host is opened, and credential-broker judges each request there. */
const methods = z.array(z.enum(PLACE_METHODS)).min(1).max(PLACE_METHODS.length);
const paths = z.array(PathPattern).min(1).max(MAX_PLACE_ENTRIES);
/** Methods of a rule "read only". */
export const READ_METHODS = ['GET', 'HEAD', 'OPTIONS'] as const satisfies readonly (typeof PLACE_METHODS)[number][];

/** One rule of an organization for connections of its sandboxes. */
export const EgressRule = z.object({
  id: z.string(),
  scope: z.enum(EGRESS_RULE_SCOPES),
  /** The repository, the environment or the conversation; `null` for the organization. */
  scopeValue: z.string().nullable(),
  host: HostPatternText,
  action: z.enum(['allow', 'deny']),
  /** Of a limited rule; `null`: every method, every path. */
  methods: methods.nullable(),
  paths: paths.nullable(),
  /** What becomes of a request with a credential of its own; `null`: the rule is not limited, or refuses. */
  foreign: z.enum(['refuse', 'allow']).nullable(),
  /** Whether WebSockets pass. */
  websocket: z.boolean(),
  /** Was given for a minute of new connections. */
  once: z.boolean(),
  expiresAt: z.iso.datetime().nullable(),
  reason: z.string(),
  createdBy: z.object({ id: z.string(), label: z.string() }),
  createdAt: z.iso.datetime(),
  /** The request that it answers; `null` for one that was written by hand. */
  requestId: z.string().nullable(),
});
export type EgressRule = z.infer<typeof EgressRule>;

export const EgressRuleList = z.object({
  data: z.array(EgressRule),
  /** What becomes of a connection that no rule is about (setting `egressUnknown`). */
  unknown: z.enum(EGRESS_UNKNOWN),
  /** Whether the installation has an egress-proxy that asks; without one the rules keep no sandbox from anything. */
  enforced: z.boolean(),
  /** Whether the installation has a credential-broker: without one a rule names no methods and paths. */
  opensHosts: z.boolean(),
});
export type EgressRuleList = z.infer<typeof EgressRuleList>;

export const CreateEgressRule = z
  .strictObject({
    scope: z.enum(EGRESS_RULE_SCOPES).default('organization'),
    /** Of `repository` its URL, of `environment` its name, of `conversation` its id. */
    scopeValue: z.string().min(1).max(500).nullable().default(null),
    host: HostPatternText,
    action: z.enum(['allow', 'deny']),
    /** With any of the next four the rule is limited: its host is opened, and each request is judged. */
    methods: methods.optional(),
    paths: paths.optional(),
    /**
     * Whether a request may bring a credential of its own (a header, a cookie, a parameter). `refuse` is the default of
     * a limited rule: what passes lets an agent send data to somebody else's account at that host.
     */
    foreign: z.enum(['refuse', 'allow']).optional(),
    /** Whether WebSockets pass; only their first request is judged. */
    websocket: z.boolean().optional(),
    /** Ends after so many hours; absent: never. */
    expiresInHours: z.int().min(1).max(8_760).optional(),
    reason: Reason.default(''),
  })
  .refine(({ action, foreign }) => action === 'allow' || foreign === undefined, {
    path: ['foreign'],
    message: 'is of a rule that allows',
  })
  .refine(({ action, websocket }) => action === 'allow' || websocket !== true, {
    path: ['websocket'],
    message: 'is of a rule that allows',
  })
  .refine(({ websocket, methods }) => websocket !== true || (methods?.includes('GET') ?? true), {
    path: ['methods'],
    message: 'has GET where WebSockets pass: they begin with it',
  });
export type CreateEgressRule = z.infer<typeof CreateEgressRule>;

/** Longest line of a command that a request shows. UTF-16 code units. */
export const MAX_ASKER_LINE = 200;
/** Who asked for a host, as the sandbox says; nothing relies on it. */
export const EgressAskedBy = z.object({
  /** `action`: one in the log of the same conversation. */
  kind: z.enum(['action', ...EGRESS_ASKERS]),
  /** First line of the action's command, in plain text; empty for others. */
  line: z.string().max(MAX_ASKER_LINE),
  /** Place of the action in the log; `null` for others. */
  seq: z.int().positive().nullable(),
});
export type EgressAskedBy = z.infer<typeof EgressAskedBy>;

/** A sandbox asks for a host that no rule is about, and a user decides. */
export const EGRESS_REQUEST_STATES = ['waiting', 'allowed', 'denied', 'expired'] as const;
export const EgressRequest = z.object({
  id: z.string(),
  /** Host in ASCII, as programs asked for it. */
  host: z.string(),
  port: z.int(),
  state: z.enum(EGRESS_REQUEST_STATES),
  /** Connections that were tried. */
  tries: z.int(),
  /** The action whose command asked, as the sandbox says; nothing relies on it. */
  actionId: z.string().nullable(),
  /** What `actionId` means in this conversation; `null`: nothing. Absent in events and in answers. */
  askedBy: EgressAskedBy.nullable().optional(),
  /** Whether this organization has reached the host before. */
  firstTime: z.boolean(),
  createdAt: z.iso.datetime(),
  decidedAt: z.iso.datetime().nullable(),
  decidedBy: z.string().nullable(),
  scope: z.enum(['once', 'conversation', 'organization']).nullable(),
  reason: z.string(),
  /** Of a request to use a credential at this host; absent: the host itself is asked for. */
  use: AskedUse.optional(),
});
export type EgressRequest = z.infer<typeof EgressRequest>;
export const EgressRequestList = z.object({
  data: z.array(EgressRequest),
  /** What becomes of a connection that no rule is about: the setting `egressUnknown` where it is enforced. */
  unknown: z.enum(EGRESS_UNKNOWN),
  /** Whether an answer may name methods and paths: the installation has a credential-broker. */
  opensHosts: z.boolean(),
  /** What the conversation has sent until now, as far as it is counted. */
  sent: z.object({
    bytesOut: z.int(),
    hosts: z.int(),
    /** Text of the workspace, in bodies to opened hosts. */
    workspaceBytes: z.int(),
  }),
});
export type EgressRequestList = z.infer<typeof EgressRequestList>;

export const AnswerEgressRequest = z
  .strictObject({
    decision: z.enum(['allow', 'deny']),
    /** `once`: new connections for 60 s. `organization` needs `egress:write`. Of a no it is always the conversation. */
    scope: z.enum(['once', 'conversation', 'organization']).default('once'),
    /** Host as the card showed it: an answer to another one is refused. */
    host: z.string().min(1).max(253),
    port: z.int().min(1).max(65_535),
    /** Of a yes for longer than once: the requests that it lets through. */
    methods: methods.optional(),
    paths: paths.optional(),
    reason: Reason.default(''),
  })
  .refine(
    ({ decision, scope, methods, paths }) =>
      (methods === undefined && paths === undefined) || (decision === 'allow' && scope !== 'once'),
    { path: ['methods'], message: 'and paths are of a yes for the conversation or the organization' },
  )
  .refine(({ decision, scope }) => decision === 'allow' || scope !== 'organization', {
    path: ['scope'],
    message: 'is not for a no: write a rule for the organization instead',
  });
export type AnswerEgressRequest = z.infer<typeof AnswerEgressRequest>;

/** A host that sandboxes reached under `observe`, and that no rule of the organization is about. */
export const ObservedHost = z.object({
  /** Host in ASCII, as programs asked for it. */
  host: z.string(),
  port: z.int(),
  /** That reached it. */
  conversations: z.int(),
  /** Those of one sandbox within five seconds count once. */
  connections: z.int(),
  firstAt: z.iso.datetime(),
  lastAt: z.iso.datetime(),
});
export type ObservedHost = z.infer<typeof ObservedHost>;
export const ObservedHostList = z.object({ data: z.array(ObservedHost).max(500) });
export type ObservedHostList = z.infer<typeof ObservedHostList>;
/** Hosts that are recorded of one conversation; a user is asked about more. */
export const MAX_OBSERVED_HOSTS = 200;
/** A host that no sandbox reached for so many days is forgotten. */
export const OBSERVED_DAYS = 90;

/** In the place of a rule's id: the connection was let through by the setting `observe`. */
export const OBSERVED_RULE = 'observed';

/** Seconds of new connections that a yes for once lets through. */
export const EGRESS_ONCE_SECONDS = 60;
/** Requests of one conversation that wait at once, and new ones in an hour. */
export const MAX_WAITING_EGRESS_REQUESTS = 4;
export const MAX_EGRESS_REQUESTS_PER_HOUR = 20;
/** A request that nobody answers ends after so many hours. */
export const EGRESS_REQUEST_HOURS = 24;

/** What egress-proxy asks app-server about one connection. */
export const EgressQuestion = z.strictObject({
  claim: z.string().min(1).max(100),
  org: z.string().min(1).max(100),
  conversation: z.string().min(1).max(200).nullable(),
  host: z.string().min(1).max(253),
  port: z.int().min(1).max(65_535),
  /** The action whose command asks, as the sandbox says. */
  actionId: z.string().max(100).nullable(),
  /** The rule that let a connection through which is open already. */
  openedBy: z.string().max(100).nullable(),
  /** The installation lists the host: it is allowed unless a rule refuses it. */
  listed: z.boolean().default(false),
});
export type EgressQuestion = z.infer<typeof EgressQuestion>;

export const EgressDecision = z.object({
  decision: z.enum(['allow', 'deny', 'ask', 'too-many']),
  /** Id of the rule that decided; `null` for a default. */
  rule: z.string().nullable(),
  /** How long the answer may be remembered. Milliseconds. */
  ttlMs: z.int().min(0).max(5_000),
  /** Of `ask`: the request that waits for a user. */
  request: z.string().nullable(),
  /**
   * The conversation has a credential for a place of this host, or a limited rule is about it: the connection goes
   * through credential-broker.
   */
  brokered: z.boolean().default(false),
});
export type EgressDecision = z.infer<typeof EgressDecision>;

/** A line of the stream of changes: rules or requests of this organization have changed; without one: all is well. */
export const EgressChange = z.object({ org: z.string().optional() });
export type EgressChange = z.infer<typeof EgressChange>;
