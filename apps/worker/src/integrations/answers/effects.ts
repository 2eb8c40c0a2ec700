import { DEFAULT_PROCESSORS } from '@slipway/contracts/integrations';
import type { Provider, ThreadLink, TicketStage } from '@slipway/integrations';
import type { ThreadToAnswer } from './answers.queries.js';
import type { PullOfConversation } from './progress.js';

/** What is done in a thread beside its comment, as it is kept in the row: at most once by its subject. */
export type Effect =
  | { readonly kind: 'link'; readonly subject: string; readonly detail: ThreadLink }
  | { readonly kind: 'status'; readonly subject: 'now'; readonly detail: Readonly<Record<string, never>> }
  | { readonly kind: 'move'; readonly subject: TicketStage; readonly detail: { readonly stage: TicketStage } };

export interface EffectFacts {
  readonly conversationId: string;
  /** Of the conversation; `null`: the address of Slipway is not configured. */
  readonly url: string | null;
  readonly pulls: readonly PullOfConversation[];
}

/** What a conversation does in one of its threads, by the settings of the thread's connection. Pure. */
export function effectsOf(
  { settings }: ThreadToAnswer,
  { answers }: Provider,
  { conversationId, url, pulls }: EffectFacts,
): Effect[] {
  const { comment, link, start, done } = { ...DEFAULT_PROCESSORS, ...settings.processors };
  const can = answers?.effects ?? [];
  const links = !(link && can.includes('link'))
    ? []
    : [
        ...(url === null
          ? []
          : [{ key: `conversation:${conversationId}`, label: 'Slipway conversation', url, resolved: false }]),
        ...pulls.flatMap((pull) => linkOf(pull) ?? []),
      ];
  const merged = pulls.some(({ state }) => state === 'merged') && !pulls.some(({ state }) => state === 'open');
  const stages: TicketStage[] = can.includes('move')
    ? [...(start ? (['started'] as const) : []), ...(done === 'merged' && merged ? (['done'] as const) : [])]
    : [];
  return [
    ...links.map((detail) => ({ kind: 'link' as const, subject: detail.key, detail })),
    ...(answers?.status !== undefined && comment
      ? [{ kind: 'status' as const, subject: 'now' as const, detail: {} }]
      : []),
    ...stages.map((stage) => ({ kind: 'move' as const, subject: stage, detail: { stage } })),
  ];
}

function linkOf({ number, url, state }: PullOfConversation): ThreadLink | null {
  if (url === null || !/^https?:\/\/[^\s()<>]+$/.test(url)) return null;
  return {
    key: `pull-request:${url}`,
    label: `Pull request${number === null ? '' : ` #${number}`}`,
    url,
    resolved: state !== 'open',
  };
}
