'use client';
import { blobRefOf } from '@slipway/contracts';
import { Bot, FilePen, FileSearch, FolderOpen, FolderSearch, NotebookText, Plug } from 'lucide-react';
import type { ReactNode } from 'react';
import { diffLines, type FileEdit } from '../file-edit.ts';
import { patchLines } from '../patch-lines.ts';
import { picturesOf } from '../pictures.ts';
import { type Step, stepState } from '../timeline-row.ts';
import type { WorkspacePaths } from '../workspace-path.ts';
import { browserStep } from './browser-step.tsx';
import { givenInLine } from './given-in-line.ts';
import { PlusMinus } from './plus-minus.tsx';
import { EditBody } from './step-bodies.tsx';
import type { StepParts } from './step-parts.ts';
import { TaskBody } from './task-body.tsx';
import { CellBody, FoundBody, McpBody, PatchBody } from './tool-bodies.tsx';

/** Longest part of a pattern or of code that a line shows. UTF-16 code units. */
const SHOWN = 300;

/** How a search, a listing, a patch, a cell or the browser stands in the timeline; `null` for another kind of call. */
export function toolStep(step: Step, paths: WorkspacePaths): StepParts | null {
  const source = step.action ?? step.observation;
  const text = (name: string): string => (typeof source?.[name] === 'string' ? source[name] : '');
  const family = source?.kind.replace(/(?:Action|Observation)$/, '');
  switch (family) {
    case 'Glob':
      return {
        icon: <FolderSearch aria-hidden />,
        label: (
          <>
            Found files {code(text('pattern'))}
            <Where paths={paths} path={text('path') || text('search_path')} />
          </>
        ),
        aside: <Count step={step} field="files" more="truncated" one="file" many="files" />,
        body: <FoundBody step={step} />,
      };
    case 'Grep':
      return {
        icon: <FileSearch aria-hidden />,
        label: (
          <>
            Searched for {code(text('pattern'))}
            <Where paths={paths} path={text('path') || text('search_path')} />
          </>
        ),
        aside: <Count step={step} field="matches" more="truncated" one="file" many="files" />,
        body: <FoundBody step={step} />,
      };
    case 'ListDirectory':
      return {
        icon: <FolderOpen aria-hidden />,
        label: <>Listed {code(paths.path(text('dir_path') || '.'))}</>,
        aside: <Count step={step} field="entries" more="is_truncated" one="entry" many="entries" />,
        body: <FoundBody step={step} />,
      };
    case 'FileEdit': {
      const observed = (name: string): string => (typeof step.observation?.[name] === 'string' ? step.observation[name] : '');
      const [before, after] = [observed('old_content'), observed('new_content')];
      const edit: FileEdit = {
        verb: before === '' ? 'Created' : 'Edited',
        cut: blobRefOf(before) !== null || blobRefOf(after) !== null,
        ...diffLines(blobRefOf(before)?.preview ?? before, blobRefOf(after)?.preview ?? after),
      };
      const running = stepState(step) === 'running' || stepState(step) === 'failed';
      return {
        icon: <FilePen aria-hidden />,
        label: (
          <>
            {running ? 'Edit of' : edit.verb} {code(paths.path(text('path')))}
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
      const verb = failed ? 'Patch of' : one ? first.verb : 'Patched';
      return {
        icon: <FilePen aria-hidden />,
        label: (
          <>
            {verb} {one ? code(paths.path(first.path)) : `${patch.files.length || 'no'} files`}
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
            In [{typeof count === 'number' ? count : ' '}]: {line}
          </code>
        ),
        aside: pictures === 0 ? null : <span>{pictures === 1 ? '1 picture' : `${pictures} pictures`}</span>,
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
        label: `Sub-agent: ${text('description') || prompt}`,
        aside: steps === 0 ? null : <span>{steps === 1 ? '1 step' : `${steps} steps`}</span>,
        body: <TaskBody step={step} />,
      };
    }
    default:
      return browserStep(step);
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
  const shown = path === '' ? '' : paths.path(path);
  return shown === '' || shown === './' || shown === '.' ? null : <> in {code(shown)}</>;
}

function Count({ step, field, more, one, many }: { step: Step; field: string; more: string; one: string; many: string }) {
  const found = step.observation?.[field];
  if (!Array.isArray(found) || step.observation?.is_error === true) return null;
  return (
    <span>
      {found.length}
      {step.observation?.[more] === true ? '+' : ''} {found.length === 1 ? one : many}
    </span>
  );
}
