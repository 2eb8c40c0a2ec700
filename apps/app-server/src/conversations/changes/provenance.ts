import path from 'node:path';
import type { Provenance, ProvenanceQuery } from '@slipway/contracts/repositories';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { type FileEdit, writtenLines } from '@slipway/domain/review';
import { notFound } from '@slipway/errors';
import { blobsOf, putBackBlobs } from '../../log/ingest/event-blobs.js';
import { readSandbox, type SandboxRow } from '../conversations.queries.js';
import { isOwn } from './compared-side.js';

/** Most edits of one file that are replayed, and most text of them: of a longer log the newest. Bytes. */
const MAX_EDITS = 300;
const MAX_BYTES = 8 * 1024 * 1024;

interface Place {
  readonly orgId: string;
  readonly id: string;
}

/** Who wrote the lines of a file, replayed from the log. @throws SlipwayError `resource.not-found`. */
export async function provenance(
  pool: SqlPool,
  place: Place,
  { path: file, repository }: ProvenanceQuery,
): Promise<Provenance> {
  const row = await readSandbox(pool, place.orgId, place.id);
  if (row === null) throw notFound();
  const absolute = absoluteOf(row, repository, file);
  if (absolute === null) return { lines: [] };
  const edits = await inOrg(pool, place.orgId, (client) => editsOf(client, place, absolute));
  return { lines: [...writtenLines(edits)] };
}

/** As the agent names it to its tools. */
function absoluteOf(row: SandboxRow, repository: string | undefined, file: string): string | null {
  const { workingDir } = row;
  if (workingDir === null) return null;
  return isOwn(row, repository)
    ? path.posix.join(workingDir, file)
    : path.posix.join(path.posix.dirname(workingDir), repository ?? '', file);
}

async function editsOf(client: PoolClient, { orgId, id }: Place, file: string): Promise<FileEdit[]> {
  const { rows } = await client.query<{ seq: string; event: string }>({
    name: 'provenance-edits',
    text: `SELECT seq::text AS seq, event FROM (
             SELECT e.seq, e.event::text AS event, sum(length(e.event::text)) OVER (ORDER BY e.seq DESC) AS bytes
             FROM app.event e
             WHERE e.org_id = $1 AND e.conversation_id = $2 AND e.kind = 'ObservationEvent'
               AND strpos(e.event::text, $3) > 0
               AND e.event::jsonb #>> '{observation,kind}' IN ('FileEditorObservation', 'ApplyPatchObservation', 'FileEditObservation')
             ORDER BY e.seq DESC LIMIT ${MAX_EDITS}
           ) found WHERE bytes <= ${MAX_BYTES} ORDER BY found.seq`,
    values: [orgId, id, JSON.stringify(file)],
  });
  const names = [...new Set(rows.flatMap(({ event }) => blobsOf(event).map(({ sha256 }) => sha256)))];
  const contents = await readBlobs(client, { orgId, id }, names);
  return rows.flatMap(({ seq, event }) => editOf(Number(seq), putBackBlobs(event, contents), file) ?? []);
}

async function readBlobs(
  client: PoolClient,
  { orgId, id }: Place,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (names.length === 0) return new Map();
  const { rows } = await client.query<{ sha256: string; content: Buffer }>({
    name: 'provenance-blobs',
    text: `SELECT sha256, content FROM (
             SELECT b.sha256, b.content, sum(b.bytes) OVER (ORDER BY b.sha256) AS total
             FROM app.conversation_blob c JOIN app.blob b ON b.org_id = c.org_id AND b.sha256 = c.sha256
             WHERE c.org_id = $1 AND c.conversation_id = $2 AND c.sha256 = ANY ($3::text[])
           ) found WHERE total <= ${MAX_BYTES}`,
    values: [orgId, id, names],
  });
  return new Map(rows.map(({ sha256, content }) => [sha256, content.toString('utf8')]));
}

interface EditObservation {
  readonly kind?: string;
  readonly is_error?: boolean;
  readonly command?: string;
  readonly path?: string | null;
  readonly prev_exist?: boolean;
  readonly old_content?: string | null;
  readonly new_content?: string | null;
  readonly commit?: { readonly changes?: Readonly<Record<string, PatchedFile>> } | null;
}
interface PatchedFile {
  readonly type?: string;
  readonly old_content?: string | null;
  readonly new_content?: string | null;
  readonly move_path?: string | null;
}

/** `null`: it changed another file, or nothing. */
function editOf(seq: number, json: string, file: string): FileEdit | null {
  const { observation } = JSON.parse(json) as { observation?: EditObservation };
  if (observation === undefined || observation.is_error === true) return null;
  if (observation.kind === 'ApplyPatchObservation') return patchOf(seq, observation, file);
  if (observation.path !== file || observation.command === 'view') return null;
  // It has only the lines that were worked on.
  if (observation.kind === 'FileEditObservation') return { seq, before: null, after: null };
  const before = wholeOf(observation.old_content);
  return {
    seq,
    before: before === null && observation.prev_exist === false ? '' : before,
    after: wholeOf(observation.new_content),
  };
}

function patchOf(seq: number, { commit }: EditObservation, file: string): FileEdit | null {
  const changes = Object.entries(commit?.changes ?? {});
  const change = changes.find(([name, { move_path }]) => (move_path ?? name) === file)?.[1];
  if (change === undefined) return null;
  const before = change.type === 'add' ? '' : wholeOf(change.old_content);
  return { seq, before, after: change.type === 'delete' ? '' : wholeOf(change.new_content) };
}

/** `null` when the log does not have it, or only its beginning. */
function wholeOf(text: string | null | undefined): string | null {
  return text == null || text.includes('\n[blob sha256:') ? null : text;
}
