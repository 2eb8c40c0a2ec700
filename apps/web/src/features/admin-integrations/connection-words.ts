import type { ConnectionState, DeliveryState, HookState, IntegrationHook } from '@slipway/contracts';

interface Word {
  readonly label: string;
  readonly tone: 'ok' | 'warn' | 'bad' | 'neutral' | 'accent';
}

export const CONNECTION_STATES_SHOWN: Readonly<Record<ConnectionState, Word>> = {
  unverified: { label: 'Unverified', tone: 'warn' },
  active: { label: 'Active', tone: 'ok' },
  'needs-attention': { label: 'Needs attention', tone: 'bad' },
  disabled: { label: 'Disabled', tone: 'neutral' },
};

export const HOOK_STATES_SHOWN: Readonly<Record<HookState, Word>> = {
  queued: { label: 'Being made', tone: 'accent' },
  installed: { label: 'Installed', tone: 'ok' },
  'old-secret': { label: 'Old secret', tone: 'warn' },
  'missing-right': { label: 'Missing right', tone: 'bad' },
  failed: { label: 'Failed', tone: 'bad' },
  disabled: { label: 'Switched off by the host', tone: 'bad' },
};

/** `12 webhooks: 10 installed, 2 missing right.` */
export function hooksSummary(hooks: readonly Pick<IntegrationHook, 'state'>[]): string {
  const counts = (Object.keys(HOOK_STATES_SHOWN) as HookState[]).map((state) => [state, hooks.filter((hook) => hook.state === state).length] as const);
  const words = counts.filter(([, count]) => count > 0).map(([state, count]) => `${count} ${HOOK_STATES_SHOWN[state].label.toLowerCase()}`);
  return `${hooks.length} ${hooks.length === 1 ? 'webhook' : 'webhooks'}: ${words.join(', ')}.`;
}

export const DELIVERY_STATES_SHOWN: Readonly<Record<DeliveryState, Word>> = {
  received: { label: 'Waiting', tone: 'accent' },
  done: { label: 'Acted on', tone: 'ok' },
  ignored: { label: 'Ignored', tone: 'neutral' },
  refused: { label: 'Refused', tone: 'warn' },
};

/** Triggers as people call them; one of a newer server by its own word. */
export function triggerWords(trigger: string): string {
  return TRIGGERS[trigger] ?? trigger.replaceAll('-', ' ');
}

const TRIGGERS: Readonly<Record<string, string>> = {
  label: 'Label',
  mention: 'Mention',
  assignment: 'Assignment',
  'review-comment': 'Review comment',
  review: 'Review',
  'thread-reply': 'Reply in the thread',
  'direct-message': 'Direct message',
  button: 'Button',
  'agent-session': 'Agent session',
  stop: 'Stop word',
  mute: 'Mute word',
};
