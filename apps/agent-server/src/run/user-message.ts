import type { SendEventRequest } from '@slipway/contracts/agent';
import type { EventOf } from '@slipway/contracts/events';

/** A user's message as an event. @param brought skills added by its text. */
export function userMessage(
  id: string,
  { content, sender, sender_id, attachments }: SendEventRequest,
  brought: (text: string) => Pick<EventOf<'MessageEvent'>, 'activated_skills' | 'extended_content'>,
): EventOf<'MessageEvent'> {
  const texts = content.map(({ text }) => text);
  return {
    id,
    timestamp: new Date().toISOString(),
    source: 'user',
    kind: 'MessageEvent',
    llm_message: { role: 'user', content: texts.map((text) => ({ type: 'text', text })) },
    ...(attachments === undefined || attachments.length === 0 ? {} : { attachments }),
    ...(sender === undefined ? {} : { sender }),
    ...(sender_id === undefined ? {} : { sender_id }),
    ...brought(texts.join('\n')),
  };
}

/** What happened outside of the agent's steps, said to the agent: no message of a user, so it begins nothing. */
export function noticeTo(id: string, text: string): EventOf<'MessageEvent'> {
  return {
    id,
    timestamp: new Date().toISOString(),
    source: 'environment',
    kind: 'MessageEvent',
    llm_message: { role: 'user', content: [{ type: 'text', text }] },
  };
}
