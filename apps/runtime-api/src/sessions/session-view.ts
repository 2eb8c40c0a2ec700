import type { SecretBox } from '@slipway/auth/secret-box';
import type { Runtime } from '@slipway/contracts/sandboxes';
import { keyContext } from './sealing.js';
import type { SessionRow } from './sessions.queries.js';

/** OpenHands' SDK reads `pod_status`, its app server `status`: both say the same here. */
const POD_STATUS: Record<SessionRow['status'], Runtime['pod_status']> = {
  starting: 'pending',
  running: 'ready',
  paused: 'not found',
  stopped: 'not found',
  error: 'failed',
};

export function toRuntime(orgId: string, row: SessionRow, box: SecretBox): Runtime {
  return openRuntime(row, box.decrypt(row.sealedKey, keyContext(orgId, row.sessionId)));
}

/** With the key at hand. */
export function openRuntime(row: SessionRow, sessionKey: string): Runtime {
  return {
    runtime_id: row.runtimeId,
    session_id: row.sessionId,
    url: row.url,
    session_api_key: sessionKey,
    status: row.status,
    pod_status: POD_STATUS[row.status],
    restart_count: row.restartCount,
    restart_reasons: row.restartReasons,
    working_dir: row.workingDir,
    ...(row.statusDetail === null ? {} : { status_detail: row.statusDetail }),
    ...workspaceOf(row),
    work_hosts: {},
  };
}

/** What became of the workspace, of a session without a sandbox. */
function workspaceOf({ status, workspace }: SessionRow): Pick<Runtime, 'workspace'> {
  if (workspace === undefined || !workspace.isKnown || status === 'running' || status === 'starting') return {};
  const detail = workspace.problem === null ? {} : { detail: workspace.problem };
  if (workspace.lost) return { workspace: { state: 'lost', ...detail } };
  if (workspace.slotState !== 'releasing' && workspace.slotState !== 'bound' && workspace.slotState !== 'active')
    return { workspace: { state: 'kept' } };
  return { workspace: workspace.problem === null ? { state: 'saving' } : { state: 'not-kept', ...detail } };
}
