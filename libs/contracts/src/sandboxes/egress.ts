import { z } from 'zod';

/** The way out of a sandbox: runtime-api says whose it is, egress-proxy lets out what its class may reach. */

/** What a sandbox can reach, beside the platform itself. NetworkPolicies select pods by it. */
export const EGRESS_CLASSES = ['none', 'packages', 'allow-list', 'open'] as const;
export type EgressClass = (typeof EGRESS_CLASSES)[number];

/** Those that reach names instead of addresses: their pods have egress-proxy and nothing else. */
export const PROXIED_EGRESS_CLASSES = ['packages', 'allow-list'] as const satisfies readonly EgressClass[];
export type ProxiedEgressClass = (typeof PROXIED_EGRESS_CLASSES)[number];

export function isProxied(egress: EgressClass): egress is ProxiedEgressClass {
  return PROXIED_EGRESS_CLASSES.some((proxied) => proxied === egress);
}

/**
 * The user's name in a proxy URL of a sandbox; whose sandbox it is stands in the password. Behind it, after a dot, is
 * who asks, as the sandbox says: an action by its id, or one of `EGRESS_ASKERS`. Nothing relies on it.
 */
export const EGRESS_USER = 'sandbox';

/**
 * What asks in a sandbox beside actions: a user's shell, the editor, scripts outside of the agent's shell (clone,
 * setup, hooks), the agent's browser, servers of tools.
 */
export const EGRESS_ASKERS = ['terminal', 'editor', 'script', 'browser', 'tool-server'] as const;
export type EgressAsker = (typeof EGRESS_ASKERS)[number];

/** What the credential of one sandbox says. It is worth nothing from another address, and nothing after `exp`. */
export const EgressClaims = z.object({
  /** The claim that has the sandbox. */
  claim: z.string().min(1).max(100),
  org: z.string().min(1).max(100),
  /**
   * The session of the claim, which is the conversation that the sandbox works for. Absent in credentials of before
   * 0.1.0, and where the session is none.
   */
  conversation: z.string().min(1).max(200).optional(),
  /** Name of the template that the sandbox was made from: key of its hosts. */
  template: z.string().min(1).max(63),
  egress: z.enum(PROXIED_EGRESS_CLASSES),
  /** The pod's own address, as connections come from it. */
  address: z.union([z.ipv4(), z.ipv6()]),
  /** Seconds since 1970. */
  exp: z.int().positive(),
});
export type EgressClaims = z.infer<typeof EgressClaims>;

/** Which hosts each class may reach, as given to egress-proxy, which reads only these three fields of a template. */
export const EgressRules = z.object({
  /** For both classes: git servers, an issuer, whatever every sandbox needs. */
  commonHosts: z.array(z.string()).default([]),
  /** For class `packages`: the registries or mirrors of this installation. */
  packageHosts: z.array(z.string()).default([]),
  templates: z
    .array(
      z.object({
        name: z.string(),
        egress: z.enum(EGRESS_CLASSES).default('packages'),
        allowedHosts: z.array(z.string()).default([]),
      }),
    )
    .default([]),
});
export type EgressRules = z.infer<typeof EgressRules>;
