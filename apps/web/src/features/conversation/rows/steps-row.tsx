'use client';
import { Spinner } from '@slipway/ui';
import { CircleSlash, FilePen, FileText, Hand, SquareTerminal, Wrench } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { memo } from 'react';
import { duration } from '../../../browser/format.ts';
import type { Translate } from '../../../messages/translate.ts';
import { useConversation, useView } from '../conversation-context.ts';
import { EDIT_VERBS } from '../edit-verbs.ts';
import { editOf } from '../file-edit.ts';
import { exitCodeOf, isFileEditor, type RowOf, type Step, stepState, timesOf } from '../timeline-row.ts';
import { type WorkspacePaths, workspacePaths } from '../workspace-path.ts';
import { Disclosure } from './disclosure.tsx';
import { PlusMinus } from './plus-minus.tsx';
import { EditBody, FileBody, GenericBody, TerminalBody } from './step-bodies.tsx';
import { toolStep } from './tool-step.tsx';

/** One call, or several of the same kind folded into one line. */
export function StepsRow({ row }: { row: RowOf<'steps'> }) {
  const t = useTranslations();
  const [first] = row.steps;
  if (first === undefined) return null;
  if (row.steps.length === 1) return <StepLine step={first} />;
  const failed = row.steps.filter((step) => stepState(step) === 'failed').length;
  const paths = new Set(row.steps.map(pathOf)).size;
  const sum =
    row.fold === 'edit'
      ? row.steps
          .map((step) => editOf(step))
          .reduce((total, edit) => ({ added: total.added + edit.added, removed: total.removed + edit.removed }), {
            added: 0,
            removed: 0,
          })
      : null;
  return (
    <Disclosure
      rowKey={row.key}
      startsOpen={failed > 0}
      icon={row.fold === 'edit' ? <FilePen aria-hidden /> : <FileText aria-hidden />}
      label={t(row.fold === 'edit' ? 'conversation.editedFiles' : 'conversation.readFiles', { paths, failed })}
      aside={sum ? <PlusMinus {...sum} /> : null}
    >
      {row.steps.map((step) => (
        <StepLine key={step.id} step={step} />
      ))}
    </Disclosure>
  );
}

const StepLine = memo(function StepLine({ step }: { step: Step }) {
  const t = useTranslations();
  const active = useView((view) => view.status === 'working' || view.status === 'starting');
  const asks = useView((view) => view.state.execution === 'waiting_for_confirmation');
  const known = stepState(step);
  const state = known !== 'running' || active ? known : asks ? 'asks' : 'interrupted';
  const { worked, waited } = timesOf(step);
  const { conversation } = useConversation();
  const { icon, label, aside, body } = describe(t, step, workspacePaths(conversation.repository));
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
            <span className="rounded bg-bad-soft px-1.5 font-medium text-bad">
              {exitCodeOf(step) > 0 ? t('conversation.exit', { step: exitCodeOf(step) }) : t('conversation.failed')}
            </span>
          ) : null}
          {state === 'asks' ? (
            <span className="rounded bg-warn-soft px-1.5 font-medium text-warn">
              {t('conversation.waitingForApproval2')}
            </span>
          ) : null}
          {state === 'rejected' ? <span>{t('conversation.rejected')}</span> : null}
          {state === 'interrupted' ? <span>{t('conversation.interrupted')}</span> : null}
          {waited === null || state === 'rejected' ? null : (
            <span className="max-sm:hidden">{t('conversation.waited', { waited: duration(waited) })}</span>
          )}
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

function describe(t: Translate, step: Step, paths: WorkspacePaths) {
  const source = step.action ?? step.observation;
  if (source?.kind.startsWith('Terminal')) {
    const command = String(source['command'] ?? '');
    const input = step.action?.['is_input'] === true;
    const [line = ''] = paths.command(command.slice(0, COMMAND_SHOWN)).split('\n', 1);
    return {
      icon: <SquareTerminal aria-hidden />,
      label: (
        <code
          className="font-mono text-xs text-ink"
          title={line === command ? undefined : command.slice(0, COMMAND_SHOWN)}
        >
          {command === '' ? t('conversation.waitForOutput') : `${input ? 'type ' : '$ '}${line}`}
        </code>
      ),
      aside: (
        <>
          {typeof source['session'] === 'string' && source['session'] !== 'main' ? (
            <span className="max-w-24 truncate">{t('conversation.in', { source: source['session'] })}</span>
          ) : null}
          {exitCodeOf(step) === -1 ? <span>{t('conversation.stillRunning')}</span> : null}
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
    if (source['command'] === 'view')
      return {
        icon: <FileText aria-hidden />,
        label: <>{t.rich('conversation.read2', { path: () => path })}</>,
        aside: null,
        body: <FileBody step={step} />,
      };
    const edit = editOf(step);
    return {
      icon: <FilePen aria-hidden />,
      label: (
        <>
          {t(EDIT_VERBS[edit.verb])} {path}
        </>
      ),
      aside: <PlusMinus added={edit.added} removed={edit.removed} />,
      body: <EditBody step={step} edit={edit} />,
    };
  }
  const known = toolStep(t, step, paths);
  if (known !== null) return known;
  return {
    icon: <Wrench aria-hidden />,
    label: step.summary ?? step.tool,
    aside: null,
    body: <GenericBody step={step} />,
  };
}

function pathOf(step: Step): string {
  return String(step.action?.['path'] ?? step.observation?.['path'] ?? '');
}
