import type { ConnectionState, DeliveryState } from '@slipway/contracts';

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
