import type { ErrorRow } from './error-row.js';

/** Failures of conversations and of what sandboxes append to their logs. */
export const CONVERSATION_ERRORS = {
  'conversation.nothing-to-confirm': {
    status: 409,
    title: 'No action is waiting for this answer',
    retry: 'never',
    nextStep: 'Check the conversation: someone else has answered, or the agent was stopped.',
  },
  'conversation.awaits-confirmation': {
    status: 409,
    title: 'The agent is waiting for approval',
    retry: 'never',
    nextStep: 'Approve or reject the requested action. A message also rejects it.',
  },
  'conversation.four-eyes': {
    status: 403,
    title: 'Another user must approve',
    retry: 'never',
    nextStep:
      'Ask another member of the organization. Its policy lets only users approve, one action at a time, and no one can approve what they or their service account requested.',
  },
  'conversation.busy': {
    status: 409,
    title: 'The conversation is running',
    retry: 'later',
    nextStep: 'Stop it first, or wait until it has finished.',
  },
  'conversation.not-running': {
    status: 409,
    title: 'The conversation is not running',
    retry: 'never',
    nextStep: 'Send a message to start it again.',
  },
  'conversation.queue-full': {
    status: 429,
    title: 'Too many messages are waiting',
    retry: 'later',
    nextStep: 'Wait until the agent has processed some of them.',
  },
  'attachment.limit': {
    status: 409,
    title: 'There are as many files as there may be',
    retry: 'never',
    nextStep: 'Remove files that are not sent yet, or start another conversation.',
  },
  'attachment.sent': {
    status: 409,
    title: 'The file was sent with a message',
    retry: 'never',
    nextStep: 'It is deleted with the conversation.',
  },
  'attachment.unavailable': {
    status: 409,
    title: 'An attached file is not there any more',
    retry: 'never',
    nextStep: 'Upload it again, then send the message.',
  },
  'prompt.name-taken': {
    status: 409,
    title: 'A prompt with this name and scope already exists',
    retry: 'never',
    nextStep: 'Edit the existing prompt, or choose another name.',
  },
  'prompt.too-many': {
    status: 409,
    title: 'Prompt limit reached',
    retry: 'never',
    nextStep: 'Delete one to add another.',
  },
  'message.already-taken': {
    status: 409,
    title: 'The agent has this message',
    retry: 'never',
    nextStep: 'Send another message to correct it.',
  },
  'message.changed': {
    status: 409,
    title: 'The message was changed meanwhile',
    retry: 'never',
    nextStep: 'Read its text as it is now, then change it again.',
  },
  'message.not-yours': {
    status: 403,
    title: 'Another user wrote this message',
    retry: 'never',
    nextStep: 'Ask its author or an administrator to change it, or send a message of your own.',
  },
  'conversation.no-workspace': {
    status: 409,
    title: 'There is no workspace to read',
    retry: 'later',
    nextStep: 'Wait until the sandbox has started, or resume the conversation.',
  },
  'review.full': {
    status: 409,
    title: 'The review has as many comments as it may',
    retry: 'never',
    nextStep: 'Delete comments that were not sent, or start a new conversation.',
  },
  'review.nothing-to-send': {
    status: 409,
    title: 'You have no comments to send',
    retry: 'never',
    nextStep: 'Write a comment first. What you sent is in the conversation.',
  },
  'review.comment-sent': {
    status: 409,
    title: 'The comment was sent',
    retry: 'never',
    nextStep: 'The agent has it. Write another comment, or resolve the thread.',
  },
  'ingest.stale-epoch': {
    status: 409,
    title: 'Another sandbox owns this conversation now',
    retry: 'never',
    nextStep: 'Stop writing; a newer sandbox has taken over.',
  },
  'ingest.gap': {
    status: 409,
    title: 'A batch is missing before this one',
    retry: 'never',
    nextStep: 'Send again from the position in the answer.',
  },
} as const satisfies Record<string, ErrorRow>;
