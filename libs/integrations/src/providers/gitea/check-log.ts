import type { CheckLog, CommitCheck, FullName } from '../../calls/code-host.js';
import { MAX_CHECK_LOG, orNoLog } from '../../calls/log-of-check.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { part, repo } from '../../calls/repository-path.js';
import { fields, id, url } from '../../reading/fields.js';

const job = fields({ run_id: id, html_url: url });
/** Before each line. */
const MOMENT = /^\d{4}-\d\d-\d\dT[\d:.]{8,18}Z /gm;

/**
 * Of the address of a status by Gitea Actions, which has none of its host. Whoever else writes such an address names a
 * job of the same repository.
 */
export function giteaCheckId(statusId: string, address: string): string {
  const [, run, jobId] = /\/actions\/runs\/(\d{1,18})\/jobs\/(\d{1,18})$/.exec(address) ?? [];
  return run === undefined || jobId === undefined ? `status-${statusId}` : `job-${run}-${jobId}`;
}

/**
 * Of a status by Gitea Actions: the log of its job. Older versions number jobs within their run, so the job must be the
 * one of the address of the status. What another system reported has none.
 */
export async function giteaCheckLog(
  client: ProviderClient,
  repository: FullName,
  { id: checkId }: CommitCheck,
): Promise<CheckLog | null> {
  const [, runId, jobId] = /^job-(\d+)-(\d+)$/.exec(checkId) ?? [];
  if (runId === undefined || jobId === undefined) return null;
  const path = `${repo(repository)}/actions/jobs/${part(jobId)}`;
  const found = await orNoLog(client.call({ method: 'GET', path, answer: job }));
  if (found?.body.run_id !== runId || found.body.html_url?.endsWith(`/actions/runs/${runId}/jobs/${jobId}`) !== true)
    return null;
  const log = await orNoLog(client.text(`${path}/logs`, MAX_CHECK_LOG));
  const text = log?.text.replaceAll(MOMENT, '').trim() ?? '';
  return log === null || text === '' ? null : { text, cut: log.cut };
}
