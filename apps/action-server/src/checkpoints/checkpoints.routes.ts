import { isContentId } from '@slipway/checkpoint';
import { z } from 'zod';
import { queryOf } from '../http/query.js';
import type { Routes } from '../http/server.js';
import type { WorkspaceCaptures } from './workspace-captures.js';

/** A part of names of files. */
const Chain = z.uuid().toLowerCase();
const Root = z.string().refine(isContentId, 'it is no hash of a checkpoint');
const CaptureQuery = z.object({
  chain: Chain,
  after: Root.nullable().default(null),
  /** Bytes. */
  room: z.coerce.number().int().positive(),
  /** Milliseconds. */
  within: z.coerce.number().int().positive().nullable().default(null),
});
const SettleQuery = z.object({ chain: Chain, kept: z.stringbool() });
const RestoreQuery = z.object({
  chain: Chain,
  root: Root,
  over: z.enum(['blank', 'covered']),
  needs: z.coerce.number().int().nonnegative(),
});

export function checkpointRoutes(captures: WorkspaceCaptures): Routes {
  return {
    'POST /checkpoint/capture': ({ query, response, signal }) =>
      captures.send(queryOf(CaptureQuery, query), response, signal),
    'POST /checkpoint/settle': async ({ query, response }) => {
      const { chain, kept } = queryOf(SettleQuery, query);
      captures.settle(chain, kept);
      response.writeHead(204).end();
    },
    'PUT /checkpoint/restore': ({ query, request, signal }) =>
      captures.take(queryOf(RestoreQuery, query), request, signal),
  };
}
