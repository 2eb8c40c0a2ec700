import { type KeyObject, sign } from 'node:crypto';
import http from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  ARCHIVE_AUDIENCE,
  ARCHIVE_CONTENT_TYPE,
  ARCHIVE_PARTS,
  ARCHIVE_TOKEN_SECONDS,
  type ArchiveClaims,
  type ArchivePart,
} from '@slipway/contracts/agent';
import { SlipwayError } from '@slipway/errors';
import type { WorkspaceStore } from './archive/workspace-store.js';
import { readStatus } from './cluster-error.js';

/** Longest silence of a sandbox that sends or takes its archive. Milliseconds. */
const SILENCE_MS = 60_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/** A sandbox with an address, whose archive is asked for or given. */
export interface ArchiveEnd {
  readonly slotId: string;
  readonly uid: string;
  readonly address: string;
}

/** Moves workspaces between sandboxes and the store, as streams: nothing of them stays in memory. */
export class ArchiveTransfer {
  constructor(
    private readonly store: WorkspaceStore,
    private readonly key: KeyObject,
  ) {}

  /**
   * Keeps every part of a running sandbox. @throws SlipwayError when a part could not be kept; what was kept before is
   * unharmed.
   */
  async save(sandbox: ArchiveEnd, workspace: string, signal: AbortSignal): Promise<{ bytes: number }> {
    let bytes = 0;
    for (const part of ARCHIVE_PARTS) {
      const response = await this.send(sandbox, { part, op: 'read', source: null }, signal);
      if (response.statusCode !== 200)
        throw await refused(response, `the part ${part} of its workspace cannot be read`);
      bytes += (await this.store.put(workspace, part, response, signal)).bytes;
    }
    return { bytes };
  }

  /**
   * Restores every stored part into a sandbox that no claim owns yet. Repeatable. @throws SlipwayError; the sandbox
   * must be given up then, its workspace may be half there.
   */
  async restore(sandbox: ArchiveEnd, workspace: string, signal: AbortSignal): Promise<void> {
    for (const part of ARCHIVE_PARTS) {
      const kept = await this.store.get(workspace, part, signal);
      if (kept === null) continue;
      try {
        const response = await this.send(sandbox, { part, op: 'write', source: kept }, signal);
        if (response.statusCode !== 204)
          throw await refused(response, `the part ${part} of the workspace cannot be put into the sandbox`);
        response.resume();
      } finally {
        kept.destroy();
      }
    }
  }

  private send(
    sandbox: ArchiveEnd,
    {
      part,
      op,
      source,
    }: { readonly part: ArchivePart; readonly op: ArchiveClaims['op']; readonly source: Readable | null },
    signal: AbortSignal,
  ): Promise<http.IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${this.token(sandbox, part, op)}`,
        ...(source === null ? {} : { 'content-type': ARCHIVE_CONTENT_TYPE }),
      };
      const fail = (error: unknown): void => {
        const words = error instanceof Error ? error.message : String(error);
        reject(
          error instanceof SlipwayError
            ? error
            : new SlipwayError('sandbox.unreachable', `The sandbox broke off its archive: ${words}`, { cause: error }),
        );
      };
      const request = http.request(
        `${sandbox.address}/api/archive/${part}`,
        { method: op === 'read' ? 'GET' : 'PUT', headers, agent: false, signal },
        resolve,
      );
      request.setTimeout(SILENCE_MS, () => request.destroy(new Error(`nothing came for ${SILENCE_MS / 1_000} s`)));
      request.on('error', fail);
      if (source === null) request.end();
      else pipeline(source, request).catch(fail);
    });
  }

  private token(sandbox: ArchiveEnd, part: ArchivePart, op: ArchiveClaims['op']): string {
    const exp = Math.floor(Date.now() / 1000) + ARCHIVE_TOKEN_SECONDS - 5;
    const claims: ArchiveClaims & { aud: string } = {
      aud: ARCHIVE_AUDIENCE,
      slot_id: sandbox.slotId,
      pod_uid: sandbox.uid,
      op,
      part,
      exp,
    };
    const signed = [{ alg: 'EdDSA', typ: 'JWT' }, claims]
      .map((value) => Buffer.from(JSON.stringify(value)).toString('base64url'))
      .join('.');
    return `${signed}.${sign(null, Buffer.from(signed), this.key).toString('base64url')}`;
  }
}

async function refused(response: http.IncomingMessage, what: string): Promise<SlipwayError> {
  let body = '';
  for await (const chunk of response as AsyncIterable<Buffer>) {
    body += chunk.toString('utf8');
    if (body.length > MAX_ANSWER_BYTES) break;
  }
  const { detail, code } = readStatus(body) as { detail?: string; code?: unknown };
  const known =
    code === 'sandbox.archive-broken' || code === 'sandbox.archive-too-large' || code === 'sandbox.disk-full'
      ? code
      : 'sandbox.unreachable';
  return new SlipwayError(
    known,
    `${what[0]?.toUpperCase()}${what.slice(1)}: ${detail ?? `agent-server answered ${response.statusCode}`}`,
  );
}
