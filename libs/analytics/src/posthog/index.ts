export { type DefinitionsSource, type FetchedDefinitions, fetchDefinitions } from './fetch-definitions.js';
export { PosthogFlags } from './posthog-flags.js';
export { type PosthogReceiver, PosthogSender, type SendResult } from './posthog-sender.js';
