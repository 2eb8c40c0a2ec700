import type { ErrorRow } from './error-row.js';

/** Failures of models and of the agent that calls them. */
export const MODEL_ERRORS = {
  'model.auth': {
    status: 401,
    title: 'The model provider rejected the key',
    retry: 'never',
    nextStep: 'Correct LLM_API_KEY.',
  },
  'model.quota': {
    status: 402,
    title: 'The model provider says the credit is used up',
    retry: 'never',
    nextStep: 'Add credit at the provider.',
  },
  'model.rate-limited': {
    status: 429,
    title: 'The model provider limits the rate',
    retry: 'later',
    nextStep: 'Slipway retries automatically.',
  },
  'model.unavailable': {
    status: 502,
    title: 'The model does not answer',
    retry: 'later',
    nextStep: 'Slipway retries automatically. If it still fails, send a message to continue.',
  },
  'model.timeout': {
    status: 504,
    title: 'The model took too long',
    retry: 'later',
    nextStep: 'Send a message to try again.',
  },
  'model.bad-response': {
    status: 502,
    title: 'The model sent an invalid response',
    retry: 'later',
    nextStep: 'Send a message to try again, or choose another model.',
  },
  'model.unknown': {
    status: 404,
    title: 'There is no such model',
    retry: 'never',
    nextStep: 'Choose a model from GET /v1/models.',
  },
  'model.not-offered': {
    status: 400,
    title: 'The request uses a model feature that is not available here',
    retry: 'never',
    nextStep:
      'Remove the field named in the detail, or ask the operator to price or allow it (docs/operate/models.md).',
  },
  'model.media-by-url': {
    status: 400,
    title: 'An image or file is given by URL',
    retry: 'never',
    nextStep:
      'Send it inline as base64 (a data: URL), or ask the operator to allow URLs for this model (docs/operate/models.md).',
  },
  'model.profile-missing': {
    status: 409,
    title: 'The conversation’s model profile was deleted',
    retry: 'never',
    nextStep:
      'Choose another model for the conversation, or ask an admin to create a profile with that name. Then send a message.',
  },
  'model.context-exceeded': {
    status: 400,
    title: 'The conversation is longer than the model can read',
    retry: 'never',
    nextStep: 'Start a new conversation, or choose a model with a larger context.',
  },
  'model.content-policy': {
    status: 400,
    title: "The model's provider refuses this content",
    retry: 'never',
    nextStep: 'Rephrase the message, or choose another model.',
  },
  'agent.iteration-limit': {
    status: 409,
    title: 'Step limit reached',
    retry: 'never',
    nextStep: 'Resume the conversation or send a message to continue for the same number of steps.',
  },
  'agent.budget-limit': {
    status: 402,
    title: 'Budget of the conversation used up',
    retry: 'never',
    nextStep: 'Raise the limit of the conversation, then resume it.',
  },
  'agent.stuck': {
    status: 409,
    title: 'The agent is repeating itself',
    retry: 'never',
    nextStep: 'Send a message that says what to do differently.',
  },
} as const satisfies Record<string, ErrorRow>;
