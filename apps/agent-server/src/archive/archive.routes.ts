import type { KeyObject } from 'node:crypto';
import { pipeline as connect, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { archiveDirectories, metered, restoreDirectories, volumeBytes } from '@slipway/archive';
import { ARCHIVE_CONTENT_TYPE, ARCHIVE_SKIPPED_HEADER, ArchivePart } from '@slipway/contracts/agent';
import { notFound, SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { Activation } from '../activation/activation.js';
import type { Config } from '../config.js';
import type { Conversations } from '../conversations/conversations.js';
import type { Call, Route } from '../http/router.js';
import type { ActionServerClient } from '../sandbox/action-server-client.js';
import type { ArchiveReads } from './archive-reads.js';
import { verifyArchive } from './archive-token.js';
import type { Restores } from './restores.js';

export interface ArchiveDeps {
  readonly config: Config;
  readonly key: KeyObject;
  readonly activation: Activation;
  readonly restores: Restores;
  readonly reads: ArchiveReads;
  readonly conversations: Conversations;
  readonly actionServer: ActionServerClient;
  readonly logger: Logger;
}

/** One part as a stream, with what could not be kept of it, and back. */
interface Part {
  read(signal: AbortSignal): Promise<{ readonly stream: Readable; readonly skipped: number }>;
  write(source: Readable, signal: AbortSignal): Promise<void>;
}

/**
 * Exports the files of a sandbox, and imports them into an unclaimed one. Authenticated by the platform's signature,
 * not the session's key: a blank sandbox has none.
 */
export function archiveRoutes(deps: ArchiveDeps): Route[] {
  const { actionServer, activation, restores, logger } = deps;
  const parts: Readonly<Record<ArchivePart, Part>> = {
    // Measured where it is made; here it only passes.
    workspace: {
      read: async (signal) => {
        const { stream, skipped } = await actionServer.archive.read(signal);
        return { stream: passing(stream), skipped };
      },
      write: (source, signal) => actionServer.archive.write(passing(source), signal),
    },
    conversations: conversationsPart(deps),
  };
  const partOf = (call: Call, op: 'read' | 'write'): ArchivePart => {
    const part = ArchivePart.safeParse(call.params['part']);
    if (!part.success) throw notFound();
    const token = /^Bearer (.+)$/i.exec(call.request.headers.authorization ?? '')?.[1];
    verifyArchive(token, {
      key: deps.key,
      slotId: deps.config.SLOT_ID,
      podUid: deps.config.POD_UID,
      op,
      part: part.data,
      nowMs: Date.now(),
    });
    return part.data;
  };
  return [
    {
      method: 'GET',
      path: '/api/archive/:part',
      access: 'open',
      handle: async (call) => {
        const part = partOf(call, 'read');
        // A half must never be kept in place of the whole.
        if (restores.obstacle !== null) throw new SlipwayError('sandbox.archive-broken', restores.obstacle);
        const { stream, skipped } = await parts[part].read(call.signal);
        if (skipped > 0)
          logger.warn({ part, skipped }, 'unreadable entries, sockets, pipes and devices left out of the archive');
        call.response.writeHead(200, { 'content-type': ARCHIVE_CONTENT_TYPE, [ARCHIVE_SKIPPED_HEADER]: skipped });
        await pipeline(stream, call.response);
        deps.reads.note(part);
        return undefined;
      },
    },
    {
      method: 'PUT',
      path: '/api/archive/:part',
      access: 'open',
      handle: async (call) => {
        const part = partOf(call, 'write');
        if (!activation.untouched)
          throw new SlipwayError('sandbox.already-activated', 'Only an unclaimed sandbox accepts a saved workspace.');
        // Destroying the request would take the answer's connection with it.
        const source = Readable.from(call.request.iterator({ destroyOnReturn: false }), { objectMode: false });
        await restores.run(part, () => parts[part].write(source, call.signal));
        call.response.writeHead(204).end();
        return undefined;
      },
    },
  ];
}

/** What goes through; a failure of the source goes through too. */
function passing(source: Readable): Readable {
  return connect(source, metered(Number.POSITIVE_INFINITY), () => {});
}

/**
 * agent-server's own logs; nothing is open in a blank sandbox, so they are read when the first conversation is asked
 * for.
 */
function conversationsPart({ config, conversations }: ArchiveDeps): Part {
  const directories = { conversations: conversations.directory };
  const maxBytes = async (): Promise<number> => config.ARCHIVE_MAX_BYTES ?? (await volumeBytes(config.STATE_DIR));
  return {
    read: async (signal) => {
      await conversations.settled();
      return archiveDirectories(directories, { maxBytes: await maxBytes(), signal });
    },
    write: async (source, signal) => restoreDirectories(directories, source, { maxBytes: await maxBytes(), signal }),
  };
}
