import type { StartConversationRequest } from '@slipway/contracts/agent';
import type { ConversationEvent } from '@slipway/contracts/events';
import type { Logger } from '@slipway/telemetry';
import type { Checkpoints } from '../checkpoints/checkpoints.js';
import type { ActionServerClient } from '../sandbox/action-server-client.js';
import type { Pictures } from '../sandbox/pictures.js';
import type { SecretMask } from '../secrets/secret-mask.js';

/** What every conversation of a sandbox shares. */
export interface ConversationDeps {
  readonly actionServer: ActionServerClient;
  readonly pictures: Pictures;
  readonly mask: SecretMask;
  readonly checkpoints: Checkpoints;
  readonly logger: Logger;
  /** True while each action needs its own second user. */
  readonly fourEyes: () => boolean;
}

export interface ConversationStart {
  readonly directory: string;
  readonly request: StartConversationRequest;
  readonly deps: ConversationDeps;
  /** What its log begins with. */
  readonly events?: readonly ConversationEvent[];
}
