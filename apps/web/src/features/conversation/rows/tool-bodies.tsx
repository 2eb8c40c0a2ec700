'use client';
import { ScrollBox } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { EDIT_VERBS } from '../edit-verbs.ts';
import type { PatchedLines } from '../patch-lines.ts';
import { type Step, stepState } from '../timeline-row.ts';
import { DiffLines } from './diff-lines.tsx';
import { Output, outputOf } from './step-bodies.tsx';
import { Pictures } from './step-pictures.tsx';

/** What a search or a listing answered. */
export function FoundBody({ step }: { step: Step }) {
  const t = useTranslations();
  return (
    <Output
      text={outputOf(step)}
      label={t('conversation.found')}
      tone={stepState(step) === 'failed' ? 'bad' : 'plain'}
    />
  );
}

/** What a tool of an MCP server was asked and answered. */
export function McpBody({ step }: { step: Step }) {
  const t = useTranslations();
  const given = JSON.stringify(step.action?.['data'] ?? {}, null, 2);
  return (
    <div className="flex flex-col gap-1.5">
      {given === '{}' ? null : <Output text={given} label={t('conversation.arguments')} />}
      <Output
        text={outputOf(step)}
        label={t('conversation.answer')}
        tone={stepState(step) === 'failed' ? 'bad' : 'plain'}
      />
      <Pictures step={step} />
    </div>
  );
}

/** Most lines of a patch that are shown; the Changes panel has the whole. */
const MAX_LINES = 200;

/** @param path shortens a path as the reader knows it. */
export function PatchBody({ step, patch, path }: { step: Step; patch: PatchedLines; path: (path: string) => string }) {
  const t = useTranslations();
  if (stepState(step) === 'failed') return <Output text={outputOf(step)} label={t('conversation.error')} tone="bad" />;
  let room = MAX_LINES;
  return (
    <div className="flex flex-col gap-1.5">
      {patch.files.map((file) => {
        const lines = file.lines.slice(0, Math.max(0, room));
        room -= lines.length;
        return (
          <figure key={`${file.verb} ${file.path}`}>
            <figcaption className="mb-1 flex min-w-0 gap-2 text-xs text-ink-muted">
              <span className="min-w-0 truncate">
                {t(EDIT_VERBS[file.verb])} <code className="font-mono text-ink">{path(file.path)}</code>
                {file.movedTo === null ? null : (
                  <>
                    {t('conversation.to')}
                    <code className="font-mono text-ink">{path(file.movedTo)}</code>
                  </>
                )}
              </span>
            </figcaption>
            {lines.length === 0 ? null : (
              <ScrollBox
                label={t('conversation.patchOf', { path: file.path })}
                className="max-h-80 overflow-auto rounded-md border border-line bg-term py-1.5 font-mono text-xs leading-[18px]"
              >
                <DiffLines lines={lines} path={file.path} />
              </ScrollBox>
            )}
          </figure>
        );
      })}
      {patch.cut || patch.files.reduce((sum, file) => sum + file.lines.length, 0) > MAX_LINES ? (
        <p className="text-xs text-ink-muted">{t('conversation.theRestIsInChanges')}</p>
      ) : null}
    </div>
  );
}

/** @param code the whole of the cell, where its line does not show it; else empty. */
export function CellBody({ step, code }: { step: Step; code: string }) {
  const t = useTranslations();
  const output = outputOf(step);
  return (
    <div className="flex flex-col gap-1.5">
      <Output text={code} label={t('conversation.cell')} />
      <Output text={output} label={t('conversation.output')} tone={stepState(step) === 'failed' ? 'bad' : 'plain'} />
      <Pictures step={step} />
      {output === '' ? (
        <p className="text-xs text-ink-muted">
          {stepState(step) === 'running' ? t('conversation.noOutputYet') : t('conversation.noOutput')}
        </p>
      ) : null}
    </div>
  );
}
