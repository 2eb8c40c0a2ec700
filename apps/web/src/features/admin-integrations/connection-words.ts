import type { ConnectionState, DeliveryState, HookState, IntegrationHook } from '@slipway/contracts/integrations';
import type { MessageKey, Translate } from '../../messages/translate.ts';

interface Word {
  readonly label: MessageKey;
  readonly tone: 'ok' | 'warn' | 'bad' | 'neutral' | 'accent';
}

export const CONNECTION_STATES_SHOWN: Readonly<Record<ConnectionState, Word>> = {
  unverified: { label: 'adminIntegrations.unverified', tone: 'warn' },
  active: { label: 'adminIntegrations.active', tone: 'ok' },
  'needs-attention': { label: 'adminIntegrations.needsAttention', tone: 'bad' },
  disabled: { label: 'adminIntegrations.disabled', tone: 'neutral' },
};

export const HOOK_STATES_SHOWN: Readonly<Record<HookState, Word>> = {
  queued: { label: 'adminIntegrations.creating', tone: 'accent' },
  installed: { label: 'adminIntegrations.installed', tone: 'ok' },
  'old-secret': { label: 'adminIntegrations.oldSecret', tone: 'warn' },
  'missing-right': { label: 'adminIntegrations.missingPermission', tone: 'bad' },
  failed: { label: 'common.failed', tone: 'bad' },
  disabled: { label: 'adminIntegrations.disabledByTheHost', tone: 'bad' },
};

/** `12 webhooks: 10 installed, 2 missing right.` */
export function hooksSummary(t: Translate, hooks: readonly Pick<IntegrationHook, 'state'>[]): string {
  const counts = (Object.keys(HOOK_STATES_SHOWN) as HookState[]).map(
    (state) => [state, hooks.filter((hook) => hook.state === state).length] as const,
  );
  const words = counts
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${t(HOOK_STATES_SHOWN[state].label).toLowerCase()}`);
  return t('adminIntegrations.webhooksByState', { count: hooks.length, states: words.join(', ') });
}

export const DELIVERY_STATES_SHOWN: Readonly<Record<DeliveryState, Word>> = {
  received: { label: 'adminIntegrations.waiting', tone: 'accent' },
  done: { label: 'adminIntegrations.handled', tone: 'ok' },
  ignored: { label: 'adminIntegrations.ignored', tone: 'neutral' },
  refused: { label: 'adminIntegrations.refused', tone: 'warn' },
};

/** Triggers as people call them; one of a newer server by its own word. */
export function triggerWords(t: Translate, trigger: string): string {
  const key = TRIGGERS[trigger];
  return key === undefined ? trigger.replaceAll('-', ' ') : t(key);
}

const TRIGGERS: Readonly<Record<string, MessageKey>> = {
  label: 'adminIntegrations.label',
  mention: 'adminIntegrations.mention',
  assignment: 'adminIntegrations.assignment',
  'review-comment': 'adminIntegrations.reviewComment',
  review: 'adminIntegrations.review',
  'thread-reply': 'adminIntegrations.threadReply',
  'direct-message': 'adminIntegrations.directMessage',
  button: 'adminIntegrations.button',
  'agent-session': 'adminIntegrations.agentSession',
  stop: 'adminIntegrations.stopWord',
  mute: 'adminIntegrations.muteWord',
};
