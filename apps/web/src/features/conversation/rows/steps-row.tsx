'use client';
import { Spinner } from '@slipway/ui';
import { CircleSlash, FilePen, FileText, Hand, SquareTerminal, Wrench } from 'lucide-react';
import { memo } from 'react';
import { duration } from '../../../browser/format.ts';
import { useConversation, useView } from '../conversation-context.ts';
import { editOf } from '../file-edit.ts';
import { exitCodeOf, isFileEditor, type RowOf, type Step, stepState, timesOf } from '../timeline-row.ts';
import { type WorkspacePaths, workspacePaths } from '../workspace-path.ts';
import { Disclosure } from './disclosure.tsx';
import { PlusMinus } from './plus-minus.tsx';
import { EditBody, FileBody, GenericBody, TerminalBody } from './step-bodies.tsx';
import { toolStep } from './tool-step.tsx';

/** One call, or several of the same kind folded into one line. */
export function StepsRow({ row }: { row: RowOf<'steps'> }) {
  const [first] = row.steps;
  if (first === undefined) return null;
  if (row.steps.length === 1) return <StepLine step={first} />;
  const failed = row.steps.filter((step) => stepState(step) === 'failed').length;
  const paths = new Set(row.steps.map(pathOf)).size;
  const files = `${paths} ${paths === 1 ? 'file' : 'files'}`;
  const sum =
    row.fold === 'edit'
      ? row.steps.map(editOf).reduce((total, edit) => ({ added: total.added + edit.added, removed: total.removed + edit.removed }), { added: 0, removed: 0 })
      : null;
  return (
    <Disclosure
      rowKey={row.key}
      startsOpen={failed > 0}
      icon={row.fold === 'edit' ? <FilePen aria-hidden /> : <FileText aria-hidden />}
      label={`${row.fold === 'edit' ? 'Edited' : 'Read'} ${files}${failed > 0 ? `, ${failed} failed` : ''}`}
      aside={sum ? <PlusMinus {...sum} /> : null}
    >
      {row.steps.map((step) => (
        <StepLine key={step.id} step={step} />
      ))}
    </Disclosure>
  );
}

const StepLine = memo(function StepLine({ step }: { step: Step }) {
  const active = useView((view) => view.status === 'working' || view.status === 'starting');
  const asks = useView((view) => view.state.execution === 'waiting_for_confirmation');
  const known = stepState(step);
  const state = known !== 'running' || active ? known : asks ? 'asks' : 'interrupted';
  const { worked, waited } = timesOf(step);
  const { conversation } = useConversation();
  const { icon, label, aside, body } = describe(step, workspacePaths(conversation.repository));
  return (
    <Disclosure
      rowKey={step.id}
      startsOpen={state === 'failed'}
      icon={
        state === 'running' ? (
          <Spinner />
        ) : state === 'asks' ? (
          <Hand aria-hidden />
        ) : state === 'interrupted' || state === 'rejected' ? (
          <CircleSlash aria-hidden />
        ) : (
          icon
        )
      }
      label={label}
      aside={
        <span className="flex shrink-0 items-center gap-2.5 text-xs tabular-nums">
          {aside}
          {state === 'failed' ? (
            <span className="rounded bg-bad-soft px-1.5 font-medium text-bad">{exitCodeOf(step) > 0 ? `exit ${exitCodeOf(step)}` : 'failed'}</span>
          ) : null}
          {state === 'asks' ? <span className="rounded bg-warn-soft px-1.5 font-medium text-warn">waits for approval</span> : null}
          {state === 'rejected' ? <span>rejected</span> : null}
          {state === 'interrupted' ? <span>interrupted</span> : null}
          {waited === null || state === 'rejected' ? null : <span className="max-sm:hidden">waited {duration(waited)}</span>}
          {worked === null || state === 'rejected' ? null : <span>{duration(worked)}</span>}
        </span>
      }
    >
      {body}
    </Disclosure>
  );
});

/** Longest part of a command that its line shows. UTF-16 code units. */
const COMMAND_SHOWN = 500;

function describe(step: Step, paths: WorkspacePaths) {
  const source = step.action ?? step.observation;
  if (source?.kind.startsWith('Terminal')) {
    const command = String(source['command'] ?? '');
    const input = step.action?.['is_input'] === true;
    const [line = ''] = paths.command(command.slice(0, COMMAND_SHOWN)).split('\n', 1);
    return {
      icon: <SquareTerminal aria-hidden />,
      label: (
        <code className="font-mono text-xs text-ink" title={line === command ? undefined : command.slice(0, COMMAND_SHOWN)}>
          {command === '' ? 'wait for output' : `${input ? 'type ' : '$ '}${line}`}
        </code>
      ),
      aside: (
        <>
          {typeof source['session'] === 'string' && source['session'] !== 'main' ? <span className="max-w-24 truncate">in {source['session']}</span> : null}
          {exitCodeOf(step) === -1 ? <span>still running</span> : null}
        </>
      ),
      body: <TerminalBody step={step} command={command} />,
    };
  }
  if (source != null && isFileEditor(source.kind)) {
    const path = (
      <code className="font-mono text-xs text-ink" title={pathOf(step)}>
        {paths.path(pathOf(step))}
      </code>
    );
    if (source['command'] === 'view') return { icon: <FileText aria-hidden />, label: <>Read {path}</>, aside: null, body: <FileBody step={step} /> };
    const edit = editOf(step);
    return {
      icon: <FilePen aria-hidden />,
      label: (
        <>
          {edit.verb} {path}
        </>
      ),
      aside: <PlusMinus added={edit.added} removed={edit.removed} />,
      body: <EditBody step={step} edit={edit} />,
    };
  }
  const known = toolStep(step, paths);
  if (known !== null) return known;
  return { icon: <Wrench aria-hidden />, label: step.summary ?? step.tool, aside: null, body: <GenericBody step={step} /> };
}

function pathOf(step: Step): string {
  return String(step.action?.['path'] ?? step.observation?.['path'] ?? '');
}
