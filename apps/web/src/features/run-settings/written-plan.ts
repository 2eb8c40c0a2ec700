import type { Timeline } from '../conversation/timeline.ts';
import { isFileEditor, stepState } from '../conversation/timeline-row.ts';

/** Has the agent written PLAN.md, as far as the log is loaded? A plan may also be in a message alone. */
export function hasWrittenPlan({ rows }: Pick<Timeline, 'rows'>): boolean {
  return rows.some(
    (row) =>
      row.kind === 'steps' &&
      row.steps.some(({ action, ...rest }) => {
        if (action === null || !isFileEditor(action.kind) || action['command'] === 'view') return false;
        return /(?:^|\/)PLAN\.md$/.test(String(action['path'] ?? '')) && stepState({ action, ...rest }) === 'done';
      }),
  );
}
