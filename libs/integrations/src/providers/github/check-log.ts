import { z } from 'zod';
import type { CheckLog, CommitCheck, FullName } from '../../calls/code-host.js';
import { MAX_CHECK_LOG, orNoLog } from '../../calls/log-of-check.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { part, repo } from '../../calls/repository-path.js';
import { fields, maybe, name, text } from '../../reading/fields.js';

const ANNOTATIONS = 30;

const run = fields({ output: maybe(fields({ title: text, summary: text, text })), app: maybe(fields({ slug: text })) });
const annotation = fields({
  path: name,
  start_line: z.number().nullish().catch(null),
  annotation_level: text,
  message: text,
});

/**
 * Of a check run: what its app has written, its annotations, and the log of the job where GitHub Actions ran it. A
 * status has its description alone.
 */
export async function githubCheckLog(
  client: ProviderClient,
  repository: FullName,
  { id }: CommitCheck,
): Promise<CheckLog | null> {
  const [, number] = /^run-(\d+)$/.exec(id) ?? [];
  if (number === undefined) return null;
  const path = `${repo(repository)}/check-runs/${part(number)}`;
  const [{ body }, annotations] = await Promise.all([
    client.call({ method: 'GET', path, answer: run }),
    client.call({ method: 'GET', path: `${path}/annotations?per_page=${ANNOTATIONS}`, answer: z.array(annotation) }),
  ]);
  const { title = '', summary = '', text: long = '' } = body.output ?? {};
  // The check run of a job of GitHub Actions has the job's own id.
  const log =
    body.app?.slug === 'github-actions'
      ? await orNoLog(client.text(`${repo(repository)}/actions/jobs/${part(number)}/logs`, MAX_CHECK_LOG))
      : null;
  const notes = annotations.body.map(
    (each) =>
      `${each.path}${each.start_line == null ? '' : `:${each.start_line}`}: ${each.annotation_level}: ${each.message}`,
  );
  const parts = [title, summary, long, notes.join('\n'), log?.text ?? '']
    .map((each) => each.trim())
    .filter((each) => each !== '');
  return parts.length === 0 ? null : { text: parts.join('\n\n'), cut: log?.cut ?? false };
}
