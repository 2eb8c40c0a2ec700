import { z } from 'zod';

const conversation = z.object({ orgId: z.string(), conversationId: z.uuid() });

/** Jobs carry ids only; what they mean is read from the database when they run. */
export const QUEUES = {
  /** Bring a conversation to a running sandbox and hand over its inbox. Safe to repeat at any point. */
  'conversation-start': conversation,
  /** Hand the inbox to a sandbox that is already running. */
  'conversation-deliver': conversation,
  /** Halt the agent, keep the workspace, give the sandbox back. */
  'conversation-pause': conversation,
  /** Keep what the workspace changed (files and patch), so that it can be read when the sandbox is away. */
  'conversation-snapshot': conversation,
} as const;
export type QueueName = keyof typeof QUEUES;
export type QueuePayload<Q extends QueueName> = z.infer<(typeof QUEUES)[Q]>;
