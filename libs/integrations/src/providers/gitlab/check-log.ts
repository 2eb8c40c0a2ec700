import type { CheckLog, CommitCheck, FullName } from '../../calls/code-host.js';
import { MAX_CHECK_LOG, orNoLog } from '../../calls/log-of-check.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { part, project } from './paths.js';

/** Where a section begins and ends, for GitLab's own pages. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal control sequences
const SECTION = /section_(?:start|end):\d{1,20}:[\w.\-[\]=,]{0,400}\r?(?:\u001b\[0K)?/g;

/** Of the status of a job of a pipeline, which has the job's id: its trace. What another system reported has none. */
export async function gitlabCheckLog(
  client: ProviderClient,
  repository: FullName,
  { id }: CommitCheck,
): Promise<CheckLog | null> {
  const [, job] = /^status-(\d+)$/.exec(id) ?? [];
  if (job === undefined) return null;
  const log = await orNoLog(client.text(`${project(repository)}/jobs/${part(job)}/trace`, MAX_CHECK_LOG));
  const text = log?.text.replaceAll(SECTION, '').trim() ?? '';
  return log === null || text === '' ? null : { text, cut: log.cut };
}
