import type { MadeEvent } from '@slipway/analytics';
import { type AnalyticsEvent, analyticsProvider, modelName } from '@slipway/contracts/operate';
import { z } from 'zod';

/** An entry of the audit, as far as an analytics event needs it. */
export interface AuditLine {
  readonly seq: number;
  readonly id: string;
  readonly at: Date;
  readonly actorKind: string;
  readonly actorId: string;
  readonly viaKey: boolean;
  readonly action: string;
  readonly target: string;
  readonly detail: unknown;
  /** Seconds that an answered agent had waited; `null` for anything else. */
  readonly waited: number | null;
}

const CREATED = z.looseObject({
  repository: z.unknown(),
  model: z.string().catch('other'),
  environment: z.unknown().optional(),
  connection: z.unknown().optional(),
});
const OF_PROVIDER = z.looseObject({ provider: z.unknown() });
const CODE_HOSTS: ReadonlySet<string> = new Set(['github', 'gitlab', 'gitea']);

/** Actions that an event is made of. */
export const REPORTED_ACTIONS = [
  'conversation.create',
  'conversation.approve',
  'conversation.reject',
  'integration.create',
  'integration.install-app',
  'invitation.create',
  'member.join',
  'api-key.create',
  'device.approve',
] as const;

/** The events of an entry: of what a user did, no matter how. */
export function auditEvents(line: AuditLine): MadeEvent[] {
  if (line.actorKind !== 'user') return [];
  const made = (event: AnalyticsEvent): MadeEvent => ({ event, source: line.id, userId: line.actorId, at: line.at });
  switch (line.action) {
    case 'conversation.create':
      return [made({ name: 'conversation_started', properties: startOf(line) })];
    case 'conversation.approve':
    case 'conversation.reject':
      return [
        made({
          name: 'approval_answered',
          properties: {
            yes: line.action === 'conversation.approve',
            seconds: Math.max(0, Math.round(line.waited ?? 0)),
          },
        }),
      ];
    case 'integration.create':
    case 'integration.install-app': {
      const provider = analyticsProvider(OF_PROVIDER.safeParse(line.detail).data?.provider);
      const connected = CODE_HOSTS.has(provider)
        ? [made({ name: 'git_provider_connected', properties: { provider } })]
        : [];
      return line.action === 'integration.create'
        ? connected
        : [...connected, made({ name: 'integration_installed', properties: { provider } })];
    }
    case 'invitation.create':
      return [made({ name: 'member_invited', properties: {} })];
    case 'member.join':
      return [made({ name: 'member_joined', properties: {} })];
    case 'api-key.create':
      return [made({ name: 'api_key_created', properties: {} })];
    case 'device.approve':
      return [made({ name: 'cli_paired', properties: {} })];
    default:
      return [];
  }
}

function startOf({
  detail,
  viaKey,
}: AuditLine): Extract<AnalyticsEvent, { name: 'conversation_started' }>['properties'] {
  const { repository, model, environment, connection } = CREATED.safeParse(detail).data ?? {
    repository: null,
    model: 'other',
  };
  const isIntegration = connection !== undefined && connection !== null;
  return {
    trigger: isIntegration ? 'integration' : viaKey ? 'api' : 'page',
    has_repository: repository !== undefined && repository !== null,
    model: modelName(model),
    environment: environment !== undefined && environment !== null,
  };
}
