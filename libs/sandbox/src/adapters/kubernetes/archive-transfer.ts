import type { KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import {
  ARCHIVE_AUDIENCE,
  ARCHIVE_CONTENT_TYPE,
  ARCHIVE_PARTS,
  ARCHIVE_TOKEN_SECONDS,
  type ArchiveClaims,
  type ArchivePart,
} from '@slipway/contracts/agent';
import type { ErrorCode } from '@slipway/contracts/errors';
import { refusedTransfer, signedToken, transfer } from '../../transfer.js';
import type { WorkspaceStore } from './archive/workspace-store.js';

const KNOWN: ReadonlySet<ErrorCode> = new Set([
  'sandbox.archive-broken',
  'sandbox.archive-too-large',
  'sandbox.disk-full',
]);

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
        throw await refusedTransfer(response, `the part ${part} of its workspace cannot be read`, KNOWN);
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
          throw await refusedTransfer(
            response,
            `the part ${part} of the workspace cannot be put into the sandbox`,
            KNOWN,
          );
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
  ): Promise<IncomingMessage> {
    const claims: ArchiveClaims & { aud: string } = {
      aud: ARCHIVE_AUDIENCE,
      slot_id: sandbox.slotId,
      pod_uid: sandbox.uid,
      op,
      part,
      exp: Math.floor(Date.now() / 1000) + ARCHIVE_TOKEN_SECONDS - 5,
    };
    const method = op === 'read' ? 'GET' : 'PUT';
    const url = `${sandbox.address}/api/archive/${part}`;
    const token = signedToken(claims, this.key);
    return transfer({ method, url, token, contentType: ARCHIVE_CONTENT_TYPE, source, what: 'archive' }, signal);
  }
}
