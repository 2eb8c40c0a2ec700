import { callerKeySha256 } from '@slipway/auth/caller-keys';
import { APP_KEY_SHA256_HEADER, RestoredCheckpoint } from '@slipway/contracts/agent';
import {
  ORG_HEADER,
  PackPage,
  type RestoreCheckpoint,
  Runtime,
  type TakeCheckpoints,
  TakenCheckpoints,
} from '@slipway/contracts/sandboxes';
import { SlipwayError } from '@slipway/errors';
import { callJson, callText, type PeerCall } from './peer-call.js';

/** Longest that runtime-api lets a claim wait in its queue before it says which place it has. Seconds. */
const QUEUE_WAIT_SECONDS = 2;
/** A claim may wait for an activation call to the sandbox. Milliseconds. */
const START_TIMEOUT_MS = 20_000;
const CALL_TIMEOUT_MS = 5_000;
/** A page of the store's listing, or hundreds of deletions in it. Milliseconds. */
const PACKS_TIMEOUT_MS = 60_000;
/** Of calls about every organization: the header is needed and not looked at. */
const EVERY_ORG = 'default';
/** Longest transfer of a checkpoint, which ends at 15 minutes there. Milliseconds. */
const TRANSFER_TIMEOUT_MS = 15 * 60_000 + 5_000;

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly orgId: string;
}

export interface PackPlace {
  readonly orgId: string;
  readonly packId: string;
}

/**
 * runtime-api. No answer is `service.unavailable`; no room is `sandbox.no-capacity` or `sandbox.quota`, with its own
 * sentence.
 */
export class RuntimeApiClient {
  /**
   * @param options.appKey what the app shows to the agent-server of a session; runtime-api learns its hash, and the
   * sandbox by it.
   */
  constructor(private readonly options: { url: string; apiKey: string; appKey: (sessionId: string) => string }) {}

  /**
   * The conversation's sandbox: the one that runs, or a new claim. Repeatable. It may still be `starting` or `paused`.
   */
  start(orgId: string, sessionId: string, signal: AbortSignal): Promise<Runtime> {
    return callJson({ ...this.claim('/start', signal, orgId, sessionId), body: { session_id: sessionId } }, Runtime);
  }

  resume(orgId: string, sessionId: string, runtimeId: string, signal: AbortSignal): Promise<Runtime> {
    return callJson({ ...this.claim('/resume', signal, orgId, sessionId), body: { runtime_id: runtimeId } }, Runtime);
  }

  /** Gives the sandbox back and keeps its workspace. A runtime that is gone is no error. */
  pause(orgId: string, runtimeId: string, signal: AbortSignal): Promise<void> {
    return this.end('/pause', orgId, runtimeId, signal);
  }

  /** Gives the sandbox back with its workspace. A runtime that is gone is no error. */
  stop(orgId: string, runtimeId: string, signal: AbortSignal): Promise<void> {
    return this.end('/stop', orgId, runtimeId, signal);
  }

  /** `null` when it never was, or is gone. */
  async session(orgId: string, sessionId: string, signal: AbortSignal): Promise<Runtime | null> {
    try {
      return await callJson(
        this.call('GET', `/sessions/${encodeURIComponent(sessionId)}`, { signal, timeoutMs: CALL_TIMEOUT_MS, orgId }),
        Runtime,
      );
    } catch (error) {
      if (isNotFound(error)) return null;
      throw error;
    }
  }

  /** Objects of checkpoints of all organizations, behind `after`; fewer than `MAX_LISTED_PACKS` are the last ones. */
  async packs(after: PackPlace | null, signal: AbortSignal): Promise<PackPage['packs']> {
    const query =
      after === null ? '' : `?${new URLSearchParams({ after_org: after.orgId, after_pack: after.packId }).toString()}`;
    const page = await callJson(
      this.call('GET', `/packs${query}`, { signal, timeoutMs: PACKS_TIMEOUT_MS, orgId: EVERY_ORG }),
      PackPage,
    );
    return page.packs;
  }

  /** Idempotent; at most `MAX_DELETED_PACKS`. When it fails, some may be deleted. */
  async deletePacks(orgId: string, packs: readonly string[], signal: AbortSignal): Promise<void> {
    await callText({
      ...this.call('POST', '/packs/delete', { signal, timeoutMs: PACKS_TIMEOUT_MS, orgId }),
      body: { packs },
    });
  }

  /** What the sandbox has captured, in packs that nothing refers to yet. @throws SlipwayError `checkpoint.*`. */
  takeCheckpoints(orgId: string, body: TakeCheckpoints, signal: AbortSignal): Promise<TakenCheckpoints> {
    const call = this.call('POST', '/checkpoints/take', { signal, timeoutMs: TRANSFER_TIMEOUT_MS, orgId });
    return callJson({ ...call, body }, TakenCheckpoints);
  }

  /** The files of the sandbox become a checkpoint. Repeatable. @throws SlipwayError `checkpoint.*`, `sandbox.*`. */
  restoreCheckpoint(orgId: string, body: RestoreCheckpoint, signal: AbortSignal): Promise<RestoredCheckpoint> {
    const call = this.call('POST', '/checkpoints/restore', { signal, timeoutMs: TRANSFER_TIMEOUT_MS, orgId });
    return callJson({ ...call, body }, RestoredCheckpoint);
  }

  private async end(path: '/pause' | '/stop', orgId: string, runtimeId: string, signal: AbortSignal): Promise<void> {
    try {
      await callText({
        ...this.call('POST', path, { signal, timeoutMs: START_TIMEOUT_MS, orgId }),
        body: { runtime_id: runtimeId },
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  private claim(path: '/start' | '/resume', signal: AbortSignal, orgId: string, sessionId: string): PeerCall {
    const call = this.call('POST', path, { signal, timeoutMs: START_TIMEOUT_MS, orgId });
    const keyHash = callerKeySha256(this.options.appKey(sessionId));
    return {
      ...call,
      headers: { ...call.headers, prefer: `wait=${QUEUE_WAIT_SECONDS}`, [APP_KEY_SHA256_HEADER]: keyHash },
    };
  }

  private call(method: 'GET' | 'POST', path: string, { signal, timeoutMs, orgId }: CallOptions): PeerCall {
    return {
      method,
      url: `${this.options.url}${path}`,
      headers: { 'x-api-key': this.options.apiKey, [ORG_HEADER]: orgId },
      timeoutMs,
      signal,
      peer: 'The sandbox service',
      unreachable: 'service.unavailable',
    };
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof SlipwayError && error.code === 'resource.not-found';
}
