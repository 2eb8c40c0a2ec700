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
  /** Make durable what the sandbox has captured of its files. Safe to repeat at any point. */
  'conversation-checkpoint': conversation,
  /** Remove what is left of a conversation whose row is gone: sandbox, workspace, keys, log. */
  'conversation-delete': conversation,
  /** Pauses what a former member has running in the organization. */
  'member-removed': z.object({ orgId: z.string(), userId: z.string() }),
  /** Pause whatever runs in an organization that waits for its deletion. */
  'org-closing': z.object({ orgId: z.string() }),
  /** Bring the organization's confirmation policy to its agents that run. Safe to repeat at any point. */
  'org-settings': z.object({ orgId: z.string() }),
  /** `org-settings` for a worker of the release before. Goes in 0.2.0. */
  'org-brake': z.object({ orgId: z.string() }),
  /** Decide about a delivery of a provider, and do what it asks for. Safe to repeat at any point. */
  'integration-delivery': z.object({ orgId: z.string(), deliveryId: z.string() }),
  /**
   * Answer an agent, or stop it, as a pressed button of a thread says. Handled by app-server, which alone does so. Safe
   * to repeat at any point.
   */
  'integration-press': z.object({ orgId: z.string(), deliveryId: z.string() }),
  /** Bring what a conversation's threads show up to date. Safe to repeat at any point. */
  'integration-answer': conversation,
  /** Tells the actor of a refused delivery the reason, once in a thread. Safe to repeat at any point. */
  'integration-notice': z.object({ orgId: z.string(), answerId: z.string() }),
  /** Have the provider of a connection send again what it could not deliver. Safe to repeat at any point. */
  'integration-recovery': z.object({ orgId: z.string(), connectionId: z.string() }),
  /** Make a webhook at its git host, or see whether it is still there. Safe to repeat at any point. */
  'integration-hook': z.object({ orgId: z.string(), hookId: z.uuid() }),
  /** Find the repositories that are to have a webhook of a connection. Safe to repeat at any point. */
  'integration-hooks': z.object({ orgId: z.string(), connectionId: z.string() }),
  /** Give tokens of a connection back to their provider. Safe to repeat at any point. */
  'credential-revocation': z.object({ orgId: z.string(), revocationId: z.string() }),
  /** Send a message to an organization's webhook. Safe to repeat at any point. */
  'webhook-message': z.object({ orgId: z.string(), messageId: z.string() }),
  /**
   * Brings a pull request to its desired state: publishes, merges, and reads its state. Safe to repeat at any point.
   */
  'pull-request': z.object({ orgId: z.string(), pullRequestId: z.uuid() }),
  /**
   * Ask a git host what became of a pull request, and what came to its files after its merge. Safe to repeat at any
   * point.
   */
  'pull-request-outcome': z.object({ orgId: z.string(), outcomeId: z.uuid() }),
  /** Delete an organization whose time is over, with everything of it but its audit. */
  'org-delete': z.object({ orgId: z.string() }),
} as const;
export type QueueName = keyof typeof QUEUES;
export type QueuePayload<Q extends QueueName> = z.infer<(typeof QUEUES)[Q]>;
/** The queues whose jobs are about one conversation. */
export type ConversationQueue = {
  [Q in QueueName]: QueuePayload<Q> extends { conversationId: string } ? Q : never;
}[QueueName];
