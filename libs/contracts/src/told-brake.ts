import { z } from 'zod';
import { StartConversationRequest } from './agent-server.js';
import { ConfirmationPolicy, SecurityAnalyzer } from './confirmation.js';

/**
 * agent-server, `POST /api/slipway/conversations/{id}/brake`: when the agent asks from its next step on, and what of it the organization keeps in its own hands.
 * Whoever made the conversation ask more often in the sandbox itself keeps that.
 */
export const ToldBrake = z.object({
  policy: ConfirmationPolicy,
  analyzer: SecurityAnalyzer.nullable(),
  brake: StartConversationRequest.shape.slipway.unwrap().shape.brake.unwrap(),
  /** Rises with each change of the organization's settings or of the conversation's mode: what is older than another that came before changes nothing, and is no error. */
  version: z.int().nonnegative(),
  /** Of the start that it is meant for; another one refuses it as `ingest.stale-epoch`. */
  epoch: z.int().positive(),
  /** A person has just chosen the mode: it takes the place of what was set in the sandbox. */
  chosen: z.boolean().default(false),
});
export type ToldBrake = z.infer<typeof ToldBrake>;
