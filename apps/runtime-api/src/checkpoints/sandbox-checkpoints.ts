import type { KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import {
  CHECKPOINT_AUDIENCE,
  CHECKPOINT_CONTENT_TYPE,
  CHECKPOINT_TOKEN_SECONDS,
  type CheckpointClaims,
  RestoredCheckpoint,
  type RestoreQuery,
} from '@slipway/contracts/agent';
import type { ErrorCode } from '@slipway/contracts/errors';
import { readAnswer, refusedTransfer, signedToken, transfer } from '@slipway/sandbox';
import type { ActiveSandbox } from './active-sandbox.queries.js';

const KNOWN: ReadonlySet<ErrorCode> = new Set([
  'checkpoint.broken',
  'checkpoint.too-large',
  'checkpoint.unknown',
  'sandbox.disk-full',
]);

/** The two requests to a sandbox about a conversation's checkpoints, each with a token of its own. */
export class SandboxCheckpoints {
  constructor(private readonly key: KeyObject) {}

  /**
   * A stream of objects that ends with a `CheckpointTrailer`. @throws SlipwayError `checkpoint.unknown`, `sandbox.*`.
   */
  async read(
    sandbox: ActiveSandbox,
    conversation: string,
    have: string | null,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const query = have === null ? '' : `?have=${have}`;
    const response = await this.send(sandbox, { conversation, op: 'read', query, source: null }, signal);
    if (response.statusCode !== 200) throw await refusedTransfer(response, 'its files cannot be read', KNOWN);
    return response;
  }

  /** @throws SlipwayError `checkpoint.broken`, `sandbox.*`: the files may be between two states then. */
  async write(
    sandbox: ActiveSandbox,
    conversation: string,
    { query, objects }: { readonly query: RestoreQuery; readonly objects: Readable },
    signal: AbortSignal,
  ): Promise<RestoredCheckpoint> {
    const wanted = {
      conversation,
      op: 'write' as const,
      query: `?${new URLSearchParams({ ...query, needs: String(query.needs) })}`,
      source: objects,
    };
    const response = await this.send(sandbox, wanted, signal);
    if (response.statusCode !== 200) throw await refusedTransfer(response, 'its files cannot be restored', KNOWN);
    return RestoredCheckpoint.parse(await readAnswer(response));
  }

  private send(
    { address, slotId, uid }: ActiveSandbox,
    wanted: { conversation: string; op: CheckpointClaims['op']; query: string; source: Readable | null },
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const { conversation, op, query, source } = wanted;
    const claims: CheckpointClaims & { aud: string } = {
      aud: CHECKPOINT_AUDIENCE,
      slot_id: slotId,
      pod_uid: uid,
      conversation,
      op,
      exp: Math.floor(Date.now() / 1000) + CHECKPOINT_TOKEN_SECONDS - 5,
    };
    return transfer(
      {
        method: op === 'read' ? 'GET' : 'PUT',
        url: `${address}/api/checkpoints/${conversation}${query}`,
        token: signedToken(claims, this.key),
        contentType: CHECKPOINT_CONTENT_TYPE,
        source,
        what: 'checkpoint',
      },
      signal,
    );
  }
}
