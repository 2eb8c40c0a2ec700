import { EGRESS_CLASSES, RESOURCE_FACTORS } from '@slipway/contracts/sandboxes';
import { parseOrThrow, SlipwayError } from '@slipway/errors';
import { readHostPattern } from '@slipway/net';
import { z } from 'zod';
import { OWN_PREFIX } from './cluster-objects.js';
import { amountOf, ByteQuantity, CpuQuantity } from './quantity.js';

const LABEL_VALUE = /^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/;
const LABEL_KEY = /^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
const DNS_NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;
const DIGEST = /@sha256:[0-9a-f]{64}$/;
/**
 * Prefixes of labels that a template may not set: by ours and the application's own the platform finds its pods, and
 * policies apply.
 */
const RESERVED_PREFIXES = [OWN_PREFIX, 'app.kubernetes.io/'];

const Amounts = z.strictObject({ cpu: CpuQuantity, memory: ByteQuantity, ephemeralStorage: ByteQuantity });
export type Amounts = z.infer<typeof Amounts>;
const Resources = z
  .strictObject({ requests: Amounts, limits: Amounts })
  .superRefine(({ requests, limits }, context) => {
    for (const name of ['cpu', 'memory', 'ephemeralStorage'] as const)
      if (amountOf(requests[name]) > amountOf(limits[name]))
        context.addIssue({
          code: 'custom',
          path: ['requests', name],
          message: `is more than the limit of ${limits[name]}`,
        });
  });
export type Resources = z.infer<typeof Resources>;

const Toleration = z.strictObject({
  /** The admission policy refuses a toleration of everything, and one of the control plane's taints. */
  key: z
    .string()
    .regex(LABEL_KEY, 'is not a key of a taint')
    .refine(
      (key) => !key.startsWith('node-role.kubernetes.io/'),
      'is a taint of the control plane, which sandboxes stay off',
    ),
  operator: z.enum(['Exists', 'Equal']).optional(),
  value: z.string().regex(LABEL_VALUE).optional(),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional(),
  tolerationSeconds: z.int().nonnegative().optional(),
});

/** One kind of sandbox, as an operator describes it. */
export const SandboxTemplate = z.strictObject({
  /** What `/start` calls `image`. Becomes a label. */
  name: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/, 'is no name: lower case, digits, `-` and `.`, at most 63'),
  /** With its digest, `…@sha256:…`: production refuses a tag, which may be another image tomorrow. */
  image: z.string().regex(/^[a-zA-Z0-9][^\s]*$/, 'is no image'),
  /** For the agent's commands, at size 1; other sizes are multiples of it. */
  resources: Resources,
  /** For agent-server itself, which needs the same at every size. Its storage holds the conversation's log. */
  agentServerResources: Resources.prefault({
    requests: { cpu: '50m', memory: '128Mi', ephemeralStorage: '64Mi' },
    limits: { cpu: '1', memory: '512Mi', ephemeralStorage: '1Gi' },
  }),
  sizes: z.array(z.literal(RESOURCE_FACTORS)).min(1).default([1]),
  /** gVisor or Kata, where the cluster has them; without it the nodes' own. */
  runtimeClassName: z.string().regex(DNS_NAME).optional(),
  nodeSelector: z.record(z.string().regex(LABEL_KEY), z.string().regex(LABEL_VALUE)).optional(),
  tolerations: z.array(Toleration).default([]),
  labels: z
    .record(
      z.string().regex(LABEL_KEY, 'is not a key of a label'),
      z.string().regex(LABEL_VALUE, 'is not a value of a label'),
    )
    .default({}),
  egress: z.enum(EGRESS_CLASSES).default('packages'),
  /**
   * What class `allow-list` reaches, and needs: names, `*.name` for all below one, each with `:port` if it is about
   * that port alone. egress-proxy gets the same.
   */
  allowedHosts: z
    .array(
      z
        .string()
        .refine(
          (text) => readHostPattern(text) !== null,
          'is no host, such as mirror.example.com, *.example.com or mirror.example.com:8443',
        ),
    )
    .default([]),
  /** Needs Linux 6.3, idmapped mounts and a container runtime that knows them. */
  userNamespaces: z.boolean().default(false),
  imagePullSecrets: z.array(z.string().regex(DNS_NAME)).default([]),
  imagePullPolicy: z.enum(['IfNotPresent', 'Always', 'Never']).default('IfNotPresent'),
  priorityClassName: z
    .string()
    .regex(DNS_NAME)
    .refine((name) => !name.startsWith('system-'), 'would drive system pods out')
    .optional(),
});
export type SandboxTemplate = z.infer<typeof SandboxTemplate>;

/** Every template by its name. @throws SlipwayError `config.invalid` that names every wrong field. */
export function readTemplates(
  value: unknown,
  nodeEnv: 'development' | 'test' | 'production',
): ReadonlyMap<string, SandboxTemplate> {
  const schema = z
    .array(SandboxTemplate)
    .min(1)
    .superRefine((templates, context) => {
      for (const [index, template] of templates.entries()) {
        for (const label of Object.keys(template.labels))
          if (RESERVED_PREFIXES.some((prefix) => label.startsWith(prefix)))
            context.addIssue({
              code: 'custom',
              path: [index, 'labels', label],
              message: `is reserved: labels of ${RESERVED_PREFIXES.join(' and ')} are Slipway's`,
            });
        const listed = template.allowedHosts.length > 0;
        if (listed !== (template.egress === 'allow-list'))
          context.addIssue({
            code: 'custom',
            path: [index, 'allowedHosts'],
            message: listed
              ? `is for egress: allow-list, and this template has ${template.egress}`
              : 'needs at least one host for egress: allow-list; none is egress: none',
          });
        if (nodeEnv === 'production' && !DIGEST.test(template.image))
          context.addIssue({
            code: 'custom',
            path: [index, 'image'],
            message: 'has no digest (@sha256:…), which production needs',
          });
        if (templates.findIndex((other) => other.name === template.name) !== index)
          context.addIssue({ code: 'custom', path: [index, 'name'], message: 'is used twice' });
      }
    });
  const templates = parseOrThrow(schema, value, 'config.invalid');
  return new Map(templates.map((template) => [template.name, template]));
}

/** @throws SlipwayError `sandbox.unknown-template` that says what there is. */
export function templateFor(
  templates: ReadonlyMap<string, SandboxTemplate>,
  image: string,
  size: number,
): SandboxTemplate {
  const template = templates.get(image);
  if (template === undefined)
    throw new SlipwayError(
      'sandbox.unknown-template',
      `There is no sandbox template "${image}"; there are: ${[...templates.keys()].join(', ')}.`,
    );
  if (!template.sizes.some((known) => known === size))
    throw new SlipwayError(
      'sandbox.unknown-template',
      `The sandbox template "${image}" has no size ${size}; it has: ${template.sizes.join(', ')}.`,
    );
  return template;
}
