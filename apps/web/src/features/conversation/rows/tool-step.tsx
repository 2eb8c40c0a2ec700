'use client';
import { blobRefOf } from '@slipway/contracts/events';
import { Bot, FilePen, FileSearch, FolderOpen, FolderSearch, NotebookText, Plug } from 'lucide-react';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import type { Translate } from '../../../messages/translate.ts';
import { EDIT_VERBS } from '../edit-verbs.ts';
import { diffLines, type FileEdit } from '../file-edit.ts';
import { patchLines } from '../patch-lines.ts';
import { picturesOf } from '../pictures.ts';
import { subAgentsOf } from '../sub-agents.ts';
import { type Step, stepState } from '../timeline-row.ts';
import type { WorkspacePaths } from '../workspace-path.ts';
import { browserStep } from './browser-step.tsx';
import { givenInLine } from './given-in-line.ts';
import { PlusMinus } from './plus-minus.tsx';
import { EditBody } from './step-bodies.tsx';
import type { StepParts } from './step-parts.ts';
import { DelegateBody, TaskBody } from './task-body.tsx';
import { CellBody, FoundBody, McpBody, PatchBody } from './tool-bodies.tsx';

/** Longest part of a pattern or of code that a line shows. UTF-16 code units. */
const SHOWN = 300;

/** How a search, a listing, a patch, a cell or the browser stands in the timeline; `null` for another kind of call. */
export function toolStep(t: Translate, step: Step, paths: WorkspacePaths): StepParts | null {
  const source = step.action ?? step.observation;
  const text = (name: string): string => (typeof source?.[name] === 'string' ? source[name] : '');
  const family = source?.kind.replace(/(?:Action|Observation)$/, '');
  switch (family) {
    case 'Glob':
      return {
        icon: <FolderSearch aria-hidden />,
        label: (
          <>
            {t.rich('conversation.foundFiles', { text: () => code(text('pattern')) })}
            <Where paths={paths} path={text('path') || text('search_path')} />
          </>
        ),
        aside: <Count step={step} field="files" more="truncated" of="files" />,
        body: <FoundBody step={step} />,
      };
    case 'Grep':
      return {
        icon: <FileSearch aria-hidden />,
        label: (
          <>
            {t.rich('conversation.searchedFor', { text: () => code(text('pattern')) })}
            <Where paths={paths} path={text('path') || text('search_path')} />
          </>
        ),
        aside: <Count step={step} field="matches" more="truncated" of="files" />,
        body: <FoundBody step={step} />,
      };
    case 'ListDirectory':
      return {
        icon: <FolderOpen aria-hidden />,
        label: <>{t.rich('conversation.listed', { text: () => code(paths.path(text('dir_path') || '.')) })}</>,
        aside: <Count step={step} field="entries" more="is_truncated" of="entries" />,
        body: <FoundBody step={step} />,
      };
    case 'FileEdit': {
      const observed = (name: string): string =>
        typeof step.observation?.[name] === 'string' ? step.observation[name] : '';
      const [before, after] = [observed('old_content'), observed('new_content')];
      const edit: FileEdit = {
        verb: before === '' ? 'created' : 'edited',
        cut: blobRefOf(before) !== null || blobRefOf(after) !== null,
        ...diffLines(blobRefOf(before)?.preview ?? before, blobRefOf(after)?.preview ?? after),
      };
      const running = stepState(step) === 'running' || stepState(step) === 'failed';
      return {
        icon: <FilePen aria-hidden />,
        label: (
          <>
            {t(running ? 'conversation.editOf' : EDIT_VERBS[edit.verb])} {code(paths.path(text('path')))}
          </>
        ),
        aside: running ? null : <PlusMinus added={edit.added} removed={edit.removed} />,
        body: <EditBody step={step} edit={edit} />,
      };
    }
    case 'ApplyPatch': {
      const patch = patchLines(text('patch'));
      const [first] = patch.files;
      const failed = stepState(step) === 'failed';
      const one = patch.files.length === 1 && first !== undefined;
      const verb = failed ? t('conversation.patchOf2') : one ? t(EDIT_VERBS[first.verb]) : t('conversation.patched');
      return {
        icon: <FilePen aria-hidden />,
        label: (
          <>
            {verb} {one ? code(paths.path(first.path)) : t('conversation.files', { count: patch.files.length })}
          </>
        ),
        aside: failed ? null : <PlusMinus added={patch.added} removed={patch.removed} />,
        body: <PatchBody step={step} patch={patch} path={paths.path} />,
      };
    }
    case 'IPythonRunCell': {
      const cell = text('code');
      const [line = ''] = cell.trimStart().slice(0, SHOWN).split('\n', 1);
      const count = step.observation?.['execution_count'];
      const pictures = picturesOf(step.observation).length;
      return {
        icon: <NotebookText aria-hidden />,
        label: (
          <code className="font-mono text-xs text-ink" title={line === cell ? undefined : cell.slice(0, SHOWN)}>
            {t('conversation.in2', { count: typeof count === 'number' ? count : ' ', line })}
          </code>
        ),
        aside: pictures === 0 ? null : <span>{t('conversation.pictures', { pictures })}</span>,
        body: <CellBody step={step} code={line === cell ? '' : cell} />,
      };
    }
    case 'MCPTool': {
      const [server, tool] = [text('server'), text('tool')];
      const short = givenInLine(step.action?.['data'], SHOWN);
      return {
        icon: <Plug aria-hidden />,
        label: (
          <>
            {server === '' ? step.tool : `${server} · ${tool}`} {short === '' || short === '{}' ? null : code(short)}
          </>
        ),
        aside: null,
        body: <McpBody step={step} />,
      };
    }
    case 'Task': {
      const [prompt = ''] = text('prompt').trimStart().slice(0, SHOWN).split('\n', 1);
      const steps = (step.inside ?? []).filter(({ event }) => event.kind === 'ActionEvent').length;
      return {
        icon: <Bot aria-hidden />,
        label: t('conversation.subAgent', { text: text('description') || prompt }),
        aside: steps === 0 ? null : <span>{t('conversation.steps', { steps })}</span>,
        body: <TaskBody step={step} />,
      };
    }
    case 'Delegate': {
      const ids = source?.['ids'];
      const names =
        text('command') === 'spawn'
          ? (Array.isArray(ids) ? ids : []).map(String)
          : subAgentsOf(step).map(({ name }) => name);
      return {
        icon: <Bot aria-hidden />,
        label: t('conversation.subAgents', { names: names.join(', ') }),
        aside: null,
        body: <DelegateBody step={step} />,
      };
    }
    default:
      return browserStep(t, step);
  }
}

function code(text: string): ReactNode {
  return (
    <code className="font-mono text-xs text-ink" title={text.length > 60 ? text.slice(0, SHOWN) : undefined}>
      {text.slice(0, SHOWN)}
    </code>
  );
}

function Where({ paths, path }: { paths: WorkspacePaths; path: string }) {
  const t = useTranslations();
  const shown = path === '' ? '' : paths.path(path);
  return shown === '' || shown === './' || shown === '.' ? null : (
    <> {t.rich('conversation.in3', { shown: () => code(shown) })}</>
  );
}

function Count({ step, field, more, of }: { step: Step; field: string; more: string; of: 'files' | 'entries' }) {
  const t = useTranslations();
  const found = step.observation?.[field];
  if (!Array.isArray(found) || step.observation?.is_error === true) return null;
  return (
    <span>
      {t(of === 'files' ? 'conversation.filesFound' : 'conversation.entriesFound', {
        count: found.length,
        more: step.observation?.[more] === true ? 'yes' : 'no',
      })}
    </span>
  );
}
