import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ZipMember, zipEnd, zipMember, zipPacked } from '@slipway/archive';
import type { ConversationInfo } from '@slipway/contracts/agent';
import type { ConversationEvent } from '@slipway/contracts/events';
import type { Conversations } from '../conversations/conversations.js';
import type { Route } from '../http/router.js';
import { openhandsEvent } from '../openhands/openhands-event.js';

const FILE = 0o100_644;

/**
 * A conversation as a zip archive, named as OpenHands names its files: what it is, and each event of its log as clients
 * are given it. One event at a time is in memory.
 */
export async function* trajectoryOf(
  info: ConversationInfo,
  events: readonly ConversationEvent[],
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const members: ZipMember[] = [];
  let offset = 0;
  const file = (name: string, time: string, value: object): Buffer => {
    const content = Buffer.from(JSON.stringify(value));
    const member = zipMember(name, { mode: FILE, time: new Date(time), size: content.length, offset });
    members.push(member);
    const bytes = zipPacked(content, member);
    offset += bytes.length;
    return bytes;
  };
  yield file('meta.json', info.updated_at, info);
  // Those that come meanwhile are not of it.
  const count = events.length;
  for (let at = 0; at < count; at += 1) {
    signal.throwIfAborted();
    const event = events[at] as ConversationEvent;
    yield file(`events/event-${String(at).padStart(5, '0')}-${event.id}.json`, event.timestamp, openhandsEvent(event));
  }
  yield* zipEnd(members, offset);
}

export function trajectoryRoute(conversations: Conversations): Route {
  return {
    method: 'GET',
    path: '/api/file/download-trajectory/:id',
    access: 'session',
    handle: async ({ params, response, signal }) => {
      const conversation = await conversations.get(params['id']);
      const archive = trajectoryOf(conversation.info(), conversation.log.events, signal);
      response.writeHead(200, {
        'content-type': 'application/zip',
        'content-disposition': `attachment; filename="${conversation.id}.zip"`,
      });
      await pipeline(Readable.from(archive, { objectMode: false }), response);
      return undefined;
    },
  };
}
