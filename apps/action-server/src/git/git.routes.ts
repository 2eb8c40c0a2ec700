import { BundleRequest, MarkTurnRequest, TurnHunkRequest } from '@slipway/contracts/repositories';
import { z } from 'zod';
import type { OneAtATime } from '../editor/one-at-a-time.js';
import { jsonBody } from '../http/body.js';
import { PathQuery, queryOf } from '../http/query.js';
import type { Routes } from '../http/server.js';
import type { GitReading } from './against.js';
import { streamBundle } from './bundle.js';
import { listChanges } from './changes.js';
import { listed } from './changes-of-folder.js';
import { changesOfCommit, listCommits } from './commits.js';
import { diffOfFile } from './file-diff.js';
import { streamPatch } from './patch.js';
import { searchRepositories } from './repositories.js';
import { turnHunkOf } from './turn-hunk.js';

const CommitName = z.string().regex(/^[0-9a-fA-F]{4,64}$/, 'a hash of 4 to 64 digits');
/** `ref` is what OpenHands' clients call `base`. */
const GitQuery = PathQuery.extend({
  base: z.string().min(1).max(200).optional(),
  ref: z.string().min(1).max(200).optional(),
  turn: MarkTurnRequest.shape.turn.optional(),
  commit: CommitName.optional(),
  file: z.string().min(1).max(4096).optional(),
  max_bytes: z.coerce.number().int().positive().optional(),
  folder: z.string().max(4096).optional(),
  at_most: z.coerce.number().int().positive().max(100_000).optional(),
}).transform(({ path: place, file, base, ref, turn, commit, max_bytes: maxBytes, folder, at_most: atMost }) => ({
  path: place,
  file,
  maxBytes,
  folder,
  atMost,
  to: { base: base ?? ref, turn, commit },
}));
const CommitsQuery = PathQuery.extend({
  base: z.string().min(1).max(200).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  page_id: z.string().max(100).optional(),
});

/** @param turns one edit of a file at a time, whoever makes it. */
export function gitRoutes(reading: GitReading, turns: OneAtATime): Routes {
  const { workspace, marks } = reading;
  return {
    'GET /git/changes': ({ query, signal }) => {
      const { path: place, to, folder = '', atMost } = queryOf(GitQuery, query);
      return listChanges(reading, place, to, signal).then((changes) => listed(changes, folder, atMost));
    },
    'GET /git/diff': ({ query, signal }) => {
      const { path: file, to } = queryOf(GitQuery, query);
      return diffOfFile(reading, file, to, signal);
    },
    'GET /git/patch': ({ query, response, signal }) => {
      const { path: place, file, maxBytes, to } = queryOf(GitQuery, query);
      return streamPatch(reading, { path: place, file, maxBytes, ...to }, response, signal);
    },
    'POST /git/bundle': async ({ request, response, signal }) =>
      streamBundle(workspace, await jsonBody(request, BundleRequest), response, signal),
    'GET /git/commits': ({ query, signal }) => {
      const { path: place, page_id: pageId, limit, base } = queryOf(CommitsQuery, query);
      return listCommits(workspace, { path: place, pageId, limit, base }, signal);
    },
    'GET /git/commit_changes': ({ query, signal }) => {
      const { path: place, commit } = queryOf(PathQuery.extend({ commit: CommitName }), query);
      return changesOfCommit(workspace, place, commit, signal);
    },
    'GET /git/repositories': ({ query, signal }) =>
      searchRepositories(workspace, queryOf(PathQuery, query).path, signal),
    'POST /git/turn_hunk': async ({ request, signal }) => {
      const wanted = await jsonBody(request, TurnHunkRequest);
      return turns.run(() => turnHunkOf(workspace, wanted, signal));
    },
    'POST /git/mark': async ({ request, signal }) =>
      marks.mark((await jsonBody(request, MarkTurnRequest)).turn, signal),
  };
}
