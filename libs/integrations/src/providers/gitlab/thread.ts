import { z } from 'zod';
import type { ProviderClient } from '../../calls/provider-client.js';
import type { Said, ThreadSaid } from '../../calls/thread-reading.js';
import type { Thread } from '../../intent.js';
import { fields, flag, id, maybe, moment, name, text } from '../../reading/fields.js';
import { pathOf } from './paths.js';

const PAGE = 100;

const position = fields({ new_path: maybe(name), new_line: maybe(z.number().int().positive()) });
const said = fields({
  id,
  body: text,
  created_at: moment,
  author: fields({ id, username: name }),
  system: flag,
  internal: flag,
  resolved: flag,
  position: maybe(position),
});

/**
 * The newest hundred notes. Internal ones are left out where all users may read, as are those of GitLab itself. @throws
 * ProviderRefusal, ZodError
 */
export async function readGitlabThread(client: ProviderClient, thread: Thread): Promise<ThreadSaid> {
  const { on, internal } = pathOf(thread.place);
  const { body } = await client.call({
    method: 'GET',
    path: `${on}/notes?order_by=created_at&sort=desc&per_page=${PAGE}`,
    answer: z.array(said),
  });
  const open = body.filter((note) => !note.system && !note.resolved && (internal || !note.internal));
  return { said: open.map(saidOf).toReversed(), more: body.length === PAGE };
}

function saidOf({ id: noteId, body, created_at, author, position: at }: z.output<typeof said>): Said {
  return {
    passage: {
      id: noteId,
      author: { id: author.id, login: author.username, kind: 'user' },
      text: body,
      createdAt: created_at,
      url: null,
    },
    lines: at === null || at.new_path === null ? null : { path: at.new_path, line: at.new_line, diffHunk: '' },
  };
}
