'use client';
import { cn, ScrollBox } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { useMemo } from 'react';
import { CopyButton } from '../../../browser/copy-button.tsx';
import { ansiText } from '../ansi.ts';
import type { FileEdit } from '../file-edit.ts';
import { LongText, useBlob } from '../long-text.tsx';
import { inPrintedColours } from '../printed-outputs.ts';
import { type Step, stepState, textOf } from '../timeline-row.ts';
import { useFollowedEnd, usePrinted } from '../use-printed.ts';
import { AnsiText } from './ansi-text.tsx';
import { DiffLines } from './diff-lines.tsx';
import { Pictures } from './step-pictures.tsx';

export function outputOf(step: Step): string {
  return step.error ?? (step.observation === null ? '' : textOf(step.observation.content));
}

interface OutputProps {
  readonly text: string;
  readonly label: string;
  readonly tone?: 'plain' | 'bad';
  /** Stays at its end while more comes. */
  readonly following?: boolean;
}

const inColours = (text: string) => <AnsiText text={text} />;

/** Monospace text that scrolls inside its own box and can be copied, with the colours of a terminal. */
export function Output({ text, label, tone = 'plain', following = false }: OutputProps) {
  const t = useTranslations();
  const box = useFollowedEnd(following ? text : null);
  const blob = useBlob(text);
  if (text === '') return null;
  return (
    <div className="relative">
      <ScrollBox
        ref={box}
        label={label}
        className="max-h-80 overflow-auto rounded-md border border-line bg-term py-2 pr-10 pl-3 touch:pr-14"
      >
        <LongText
          text={text}
          dir="ltr"
          render={inColours}
          className={cn('font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]', tone === 'bad' && 'text-bad')}
        />
      </ScrollBox>
      <CopyButton
        label={label === 'Command' ? t('conversation.copyCommand') : t('conversation.copyOutput')}
        text={async () => ansiText(await blob())}
        className="absolute top-1.5 right-2 border-line bg-surface"
      />
    </div>
  );
}

/** The whole command, and what it printed: as it comes while it runs, and in its colours afterwards. */
export function TerminalBody({ step, command }: { step: Step; command: string }) {
  const t = useTranslations();
  const running = stepState(step) === 'running';
  const printed = usePrinted(step.id);
  const live = running ? printed : '';
  const stored = outputOf(step);
  const output = useMemo(() => inPrintedColours(stored, printed), [stored, printed]);
  const saved = step.observation?.['full_output_save_dir'];
  return (
    <div className="flex flex-col gap-1.5">
      <Output text={command} label={t('common.command')} />
      {output === '' && live !== '' ? (
        <Output text={live} label={t('conversation.outputSoFar')} following />
      ) : (
        <Output
          text={output}
          label={t('conversation.output')}
          tone={step.error !== null && stepState(step) === 'failed' ? 'bad' : 'plain'}
        />
      )}
      {output === '' && live === '' ? (
        <p className="text-xs text-ink-muted">{running ? t('conversation.noOutputYet') : t('conversation.noOutput')}</p>
      ) : null}
      {typeof saved === 'string' && saved !== '' ? (
        <p className="text-xs text-ink-muted">
          {t.rich('conversation.theMiddleIsOmittedThe', {
            saved,
            code: (chunks) => <code className="font-mono">{chunks}</code>,
          })}
        </p>
      ) : null}
    </div>
  );
}

export function FileBody({ step }: { step: Step }) {
  const t = useTranslations();
  return (
    <div className="flex flex-col gap-1.5">
      <Output
        text={outputOf(step)}
        label={t('conversation.file')}
        tone={stepState(step) === 'failed' ? 'bad' : 'plain'}
      />
      <Pictures step={step} />
    </div>
  );
}

/** Most lines of a small diff; the Changes panel has the whole. */
const MAX_LINES = 60;

export function EditBody({ step, edit }: { step: Step; edit: FileEdit }) {
  const t = useTranslations();
  if (step.error !== null || stepState(step) === 'failed')
    return <Output text={outputOf(step)} label={t('conversation.error')} tone="bad" />;
  return (
    <ScrollBox
      label={t('common.edit')}
      className="max-h-80 overflow-auto rounded-md border border-line bg-term py-1.5 font-mono text-xs leading-[18px]"
    >
      <DiffLines
        lines={edit.lines.slice(0, MAX_LINES)}
        path={String(step.action?.['path'] ?? step.observation?.['path'] ?? '')}
      />
      {edit.lines.length > MAX_LINES || edit.cut ? (
        <p className="px-3 pt-1 font-sans text-ink-muted">{t('conversation.theRestIsInChanges')}</p>
      ) : null}
      {edit.lines.length === 0 ? (
        <p className="px-3 font-sans text-ink-muted">{outputOf(step) || t('conversation.nothingToShow')}</p>
      ) : null}
    </ScrollBox>
  );
}

export function GenericBody({ step }: { step: Step }) {
  const t = useTranslations();
  return (
    <div className="flex flex-col gap-1.5">
      {step.action === null ? null : (
        <Output text={JSON.stringify(step.action, null, 2)} label={t('conversation.call')} />
      )}
      <Output
        text={outputOf(step)}
        label={t('conversation.answer')}
        tone={stepState(step) === 'failed' ? 'bad' : 'plain'}
      />
    </div>
  );
}
