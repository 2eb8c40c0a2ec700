import type { AgentClient } from '@slipway/agent-client';
import { SlipwayError } from '@slipway/errors';
import type { CheckpointRestore, RestoredFiles } from '../checkpoints/checkpoint-restore.js';
import { runCommand } from '../clients/agent-server.js';
import type { ColumnChanges } from '../conversations/conversation-log.js';
import { progressNow, withProgress } from './clone-progress.js';
import { cloneTimeout, gitFailure } from './git-failure.js';
import type { GrantedSecrets, HandedOver } from './granted-secrets.js';
import { cut } from './start-attempt.js';
import { alongside, type MadeWorkspace, type StartContext } from './start-context.js';
import { finishScript, parseReport, prepareScript, setupScript, type WorkspacePlan } from './workspace-script.js';

export interface WorkspaceSettings {
  readonly cloneTimeoutSeconds: number;
  readonly setupTimeoutSeconds: number;
}

/** Hook and skills are a few small files. Seconds. */
const FINISH_TIMEOUT_SECONDS = 30;
/** Output of a failed setup script that people see. Characters. */
const OUTPUT_TAIL = 3_500;

/** Clones the repository, runs its setup script, and finds its hook and skills. */
export class WorkspaceStep {
  constructor(
    private readonly secrets: GrantedSecrets,
    private readonly checkpoints: CheckpointRestore,
    private readonly settings: WorkspaceSettings,
  ) {}

  /** @param shown settles when the step is shown: the sandbox works meanwhile. */
  async run(start: StartContext, shown: Promise<void>, signal: AbortSignal): Promise<MadeWorkspace> {
    const { held, attempt, agent, plan } = start;
    const limit = this.settings.cloneTimeoutSeconds;
    const { made, handed, restored } = await alongside(shown, signal, async (ending) => {
      // Before any command runs: the clone may need them, and what it prints is masked.
      const handed = await this.secrets.handOver(held.row, agent, ending);
      const restored = await this.checkpoints.restore(held.row, agent, ending);
      const make = runCommand(agent, prepareScript(plan), { timeoutSeconds: limit }, ending);
      return { handed, restored, made: await (plan.repository === null ? make : withProgress(make, start, ending)) };
    });
    if (made.exit_code === -1)
      throw cloneTimeout(
        plan.repository,
        limit,
        plan.repository === null ? null : await progressNow(agent, plan, signal),
      );
    if (made.exit_code !== 0) throw gitFailure(plan, made.stderr ?? '');
    let report = parseReport(made.stdout ?? '');
    const notes = [...withheldNote(handed), ...restoredNote(restored)];
    attempt.end('done', ...(notes.length === 0 ? [] : [cut(notes.join(' '))]));
    const isLost = report.fresh && held.row.epoch > 1;
    // A workspace that was lost and made again has a new base; a restored one keeps its base.
    const base: ColumnChanges = {
      workingDir: plan.directory,
      ...(isLost ? { checkpoint: { workspaceLost: true } } : {}),
      ...(restored === null ? {} : { checkpoint: { restoredSeq: restored.seq } }),
      ...((report.fresh || held.row.baseCommit === null) && report.base !== null ? { baseCommit: report.base } : {}),
    };
    attempt.remember(base);
    // Whoever takes over from here finds a workspace and must know that it is another one.
    if (isLost || restored !== null) await attempt.flush();
    await attempt.begin('RUNNING_SETUP_SCRIPT', { show: report.setup !== null });
    if (report.setup !== null) {
      const printed = await this.setup(agent, plan, report.setup, signal);
      const rest = await runCommand(
        agent,
        finishScript(plan.directory),
        { timeoutSeconds: FINISH_TIMEOUT_SECONDS },
        signal,
      );
      report = { ...parseReport(rest.stdout ?? ''), base: report.base, fresh: report.fresh };
      attempt.end('done', ...printed);
    } else {
      attempt.end('skipped');
    }
    await attempt.begin('SETTING_UP_GIT_HOOKS', { show: false });
    attempt.end(report.hook === 'none' ? 'skipped' : 'done');
    await attempt.begin('SETTING_UP_SKILLS', { show: false });
    if (report.files.length === 0) attempt.end('skipped');
    else attempt.end('done', report.files.map((file) => file.path).join(', '));
    return { report, handed };
  }

  /** @returns the end of what it printed; nothing for a script that printed nothing. */
  private async setup(
    agent: AgentClient,
    plan: WorkspacePlan,
    script: string,
    signal: AbortSignal,
  ): Promise<[] | [string]> {
    const limit = this.settings.setupTimeoutSeconds;
    const ran = await runCommand(agent, setupScript(script), { cwd: plan.directory, timeoutSeconds: limit }, signal);
    const output = `${ran.stdout ?? ''}\n${ran.stderr ?? ''}`.trim();
    if (ran.exit_code === 0) return output === '' ? [] : [cut(output.slice(-OUTPUT_TAIL))];
    const tail = output === '' ? 'It printed nothing.' : `Its last output:\n${output.slice(-OUTPUT_TAIL)}`;
    if (/No space left on device/i.test(output))
      throw new SlipwayError('sandbox.disk-full', cut(`${script} filled the disk of the sandbox. ${tail}`));
    if (ran.exit_code === -1)
      throw new SlipwayError('setup.timeout', cut(`${script} did not end within ${limit} s and was killed. ${tail}`));
    throw new SlipwayError('setup.failed', cut(`${script} ended with status ${ran.exit_code}. ${tail}`));
  }
}

/** What the log says of files that were brought back. */
function restoredNote(restored: RestoredFiles | null): [] | [string] {
  if (restored === null) return [];
  const { seq, kept } = restored;
  const left = kept.count === 0 ? '' : ` ${kept.count} paths were left as they were.`;
  return [`The files were restored as they were after event ${seq}.${left}`];
}

/** What the log says of secrets that the organization keeps out of sandboxes. */
function withheldNote({ withheld }: HandedOver): [] | [string] {
  if (withheld === 0) return [];
  const [what, were] = withheld === 1 ? ['secret', 'was'] : ['secrets', 'were'];
  return [`${withheld} ${what} ${were} not given: the organization gives sandboxes no values of secrets.`];
}
