import { z } from 'zod';

/** What sandboxes sent, as egress-proxy counted it: seconds behind, and for 90 days. */

/** Rows of a conversation, and hosts of an organization, that are listed. */
export const MAX_TRAFFIC_ROWS = 200;
export const MAX_TOP_HOSTS = 100;
/** Days that an organization's traffic is added up for, and that a rule is tried on. */
export const EGRESS_TRAFFIC_DAYS = 30;

const Bytes = z.int();

/** What let a connection through. */
export const EGRESS_ADMITTED_BY = ['list', 'rule', 'credential', 'observed'] as const;
export const EgressAdmittedBy = z.object({
  /** `list`: the installation's. `observed`: the setting `egressUnknown: observe`. */
  kind: z.enum(EGRESS_ADMITTED_BY),
  /** Of the rule or the credential. */
  id: z.string().nullable(),
  /** Host of the rule, name of the credential; `null` when there is none any more. */
  name: z.string().nullable(),
});
export type EgressAdmittedBy = z.infer<typeof EgressAdmittedBy>;

export const EgressTrafficRow = z.object({
  /** Host in ASCII; `(others)` with port 0: all that are past the first 200 of an hour. */
  host: z.string(),
  port: z.int(),
  /** What let it through; `null`: it was refused. */
  admittedBy: EgressAdmittedBy.nullable(),
  /** Why it was refused, such as `rule`, `asked`, `host`, `unresolved`; `null`: it was let through. */
  refused: z.string().nullable(),
  /** That began, or were refused. */
  connections: z.int(),
  /** To the host, and from it; those of TLS count too. */
  bytesOut: Bytes,
  bytesIn: Bytes,
  firstAt: z.iso.datetime(),
  lastAt: z.iso.datetime(),
});
export type EgressTrafficRow = z.infer<typeof EgressTrafficRow>;

/** Opened hosts of a conversation whose bodies are said. */
export const MAX_BODY_HOSTS = 100;

/** What the bodies of requests to an opened host held, as credential-broker saw it. */
export const EgressBodies = z.object({
  host: z.string(),
  port: z.int(),
  /** With a body. */
  requests: z.int(),
  bytes: Bytes,
  /** Text of the workspace, as it is after unpacking. */
  workspaceBytes: Bytes,
  /** Of `bytes`, those that were not compared with the workspace. */
  unreadBytes: Bytes,
  /** Of the workspace, the three with the most of that; `.` is the folder that the conversation works in. */
  folders: z.array(z.object({ folder: z.string(), bytes: Bytes })),
  /** Content types, the three with the most bytes; `''`: none was named. */
  types: z.array(z.object({ type: z.string(), bytes: Bytes })),
});
export type EgressBodies = z.infer<typeof EgressBodies>;

export const EgressTraffic = z.object({
  data: z.array(EgressTrafficRow).max(MAX_TRAFFIC_ROWS),
  /** Of opened hosts alone: what is in the bytes of others is not seen. */
  bodies: z.array(EgressBodies).max(MAX_BODY_HOSTS),
  /** Hosts that were reached, and those that never were. */
  hosts: z.int(),
  refusedHosts: z.int(),
  /** Of all hosts, those that are not listed too. */
  bytesOut: Bytes,
  bytesIn: Bytes,
  /** What it may send today, to all hosts together; `null`: the organization has no such budget. */
  budget: z
    .object({
      limitBytes: Bytes,
      /** What is reserved for connections that are open counts too. */
      spentBytes: Bytes,
      renewsAt: z.iso.datetime(),
    })
    .nullable(),
});
export type EgressTraffic = z.infer<typeof EgressTraffic>;

export const EgressTopHost = z.object({
  host: z.string(),
  port: z.int(),
  /** That reached it, or tried to. */
  conversations: z.int(),
  /** That were let through, and that were not. */
  connections: z.int(),
  refused: z.int(),
  bytesOut: Bytes,
  bytesIn: Bytes,
  lastAt: z.iso.datetime(),
});
export type EgressTopHost = z.infer<typeof EgressTopHost>;

export const EgressTopHosts = z.object({
  data: z.array(EgressTopHost).max(MAX_TOP_HOSTS),
  /** That were reached, or tried. */
  hosts: z.int(),
  bytesOut: Bytes,
  bytesIn: Bytes,
});
export type EgressTopHosts = z.infer<typeof EgressTopHosts>;
