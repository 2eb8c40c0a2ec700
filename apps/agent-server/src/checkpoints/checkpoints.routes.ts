import type { KeyObject } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  AGENT_ROUTES,
  CHECKPOINT_AUDIENCE,
  CHECKPOINT_CONTENT_TYPE,
  CHECKPOINT_TOKEN_SECONDS,
  CheckpointClaims,
  RestoreQuery,
} from '@slipway/contracts/agent';
import { parseOrThrow, SlipwayError } from '@slipway/errors';
import { z } from 'zod';
import { readTransferToken } from '../activation/activation-token.js';
import type { Config } from '../config.js';
import { type Call, ok, type Route, serve } from '../http/router.js';
import type { Checkpoints } from './checkpoints.js';
import type { ConversationCheckpoints } from './conversation-checkpoints.js';

const ReadQuery = z.object({ have: z.uuid().optional() });
const KnownParams = z.object({ id: z.uuid().toLowerCase(), checkpoint: z.uuid().toLowerCase() });

export interface CheckpointRoutesDeps {
  readonly config: Config;
  readonly key: KeyObject;
  readonly checkpoints: Checkpoints;
}

/**
 * Captured files leave the sandbox, and checkpoints come into it. Authenticated by the platform's signature, as
 * archives: the session's key opens neither.
 */
export function checkpointRoutes({ config, key, checkpoints }: CheckpointRoutesDeps): Route[] {
  const of = (call: Call, op: CheckpointClaims['op']): ConversationCheckpoints => {
    const conversation = parseOrThrow(z.uuid().toLowerCase(), call.params['conversation']);
    const token = /^Bearer (.+)$/i.exec(call.request.headers.authorization ?? '')?.[1];
    const claims = readTransferToken(token, CheckpointClaims, {
      key,
      audience: CHECKPOINT_AUDIENCE,
      what: 'checkpoint',
      maxSeconds: CHECKPOINT_TOKEN_SECONDS,
      nowMs: Date.now(),
    });
    if (
      claims.slot_id !== config.SLOT_ID ||
      claims.pod_uid !== config.POD_UID ||
      claims.op !== op ||
      claims.conversation !== conversation
    )
      throw new SlipwayError('permission.denied', 'The token is for another sandbox, conversation or direction.');
    return checkpoints.of(conversation);
  };
  return [
    {
      method: 'GET',
      path: '/api/checkpoints/:conversation',
      access: 'open',
      handle: async (call) => {
        const conversation = of(call, 'read');
        const { have = null } = parseOrThrow(ReadQuery, Object.fromEntries(call.query));
        const stream = await conversation.read(have);
        call.response.writeHead(200, { 'content-type': CHECKPOINT_CONTENT_TYPE });
        await pipeline(stream, call.response);
        return undefined;
      },
    },
    {
      method: 'PUT',
      path: '/api/checkpoints/:conversation',
      access: 'open',
      handle: async (call) => {
        const conversation = of(call, 'write');
        const query = parseOrThrow(RestoreQuery, Object.fromEntries(call.query));
        // Destroying the request would take the answer's connection with it.
        const source = Readable.from(call.request.iterator({ destroyOnReturn: false }), { objectMode: false });
        return ok(await conversation.restore(query, source, call.signal));
      },
    },
    serve(AGENT_ROUTES.knowsCheckpoint, async (call) => {
      const { id, checkpoint } = parseOrThrow(KnownParams, call.params);
      return ok({ known: await checkpoints.of(id).knows(checkpoint) });
    }),
  ];
}
