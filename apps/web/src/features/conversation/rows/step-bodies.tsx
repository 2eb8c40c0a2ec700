'use client';
import { blobRefOf } from '@slipway/contracts';
import { cn, ScrollBox } from '@slipway/ui';
import { CopyButton } from '../../../browser/copy-button.tsx';
import type { FileEdit } from '../file-edit.ts';
import { LongText } from '../long-text.tsx';
import { plainText } from '../plain-text.ts';
import { type Step, stepState, textOf } from '../timeline-row.ts';
import { Pictures } from './step-pictures.tsx';

export function outputOf(step: Step): string {
  return step.error ?? (step.observation === null ? '' : textOf(step.observation.content));
}

/** Monospace text that scrolls inside its own box and can be copied. */
export function Output({ text, label, tone = 'plain' }: { text: string; label: string; tone?: 'plain' | 'bad' }) {
  if (text === '') return null;
  return (
    <div className="relative">
      <ScrollBox label={label} className="max-h-80 overflow-auto rounded-md border border-line bg-term py-2 pr-10 pl-3 touch:pr-14">
        <LongText text={plainText(text)} className={cn('font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]', tone === 'bad' && 'text-bad')} />
      </ScrollBox>
      <CopyButton
        label="Copy the output"
        text={() => blobRefOf(text)?.preview ?? plainText(text)}
        className="absolute top-1.5 right-2 border-line bg-surface"
      />
    </div>
  );
}

/** @param command the whole of it, where its line does not show it; else empty. */
export function TerminalBody({ step, command }: { step: Step; command: string }) {
  const output = outputOf(step);
  const saved = step.observation?.['full_output_save_dir'];
  return (
    <div className="flex flex-col gap-1.5">
      <Output text={command} label="Command" />
      <Output text={output} label="Output" tone={step.error !== null && stepState(step) === 'failed' ? 'bad' : 'plain'} />
      {output === '' ? <p className="text-xs text-ink-muted">{stepState(step) === 'running' ? 'No output yet.' : 'No output.'}</p> : null}
      {typeof saved === 'string' && saved !== '' ? (
        <p className="text-xs text-ink-muted">
          The middle is cut out; the whole output is in <code className="font-mono">{saved}</code> in the sandbox.
        </p>
      ) : null}
    </div>
  );
}

export function FileBody({ step }: { step: Step }) {
  return (
    <div className="flex flex-col gap-1.5">
      <Output text={outputOf(step)} label="File" tone={stepState(step) === 'failed' ? 'bad' : 'plain'} />
      <Pictures step={step} />
    </div>
  );
}

/** Most lines of a small diff; the Changes panel has the whole. */
const MAX_LINES = 60;

export function EditBody({ step, edit }: { step: Step; edit: FileEdit }) {
  if (step.error !== null || stepState(step) === 'failed') return <Output text={outputOf(step)} label="Error" tone="bad" />;
  return (
    <ScrollBox label="Edit" className="max-h-80 overflow-auto rounded-md border border-line bg-term py-1.5 font-mono text-xs leading-[18px]">
      {edit.lines.slice(0, MAX_LINES).map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one edit never move
        <div key={index} className={cn('flex gap-2 px-3 whitespace-pre', line.sign === '+' && 'bg-ok-soft', line.sign === '-' && 'bg-bad-soft')}>
          <span className={cn('w-2 shrink-0 select-none', line.sign === '+' ? 'text-ok' : line.sign === '-' ? 'text-bad' : 'text-ink-muted')}>{line.sign}</span>
          <span className="text-ink">{line.text}</span>
        </div>
      ))}
      {edit.lines.length > MAX_LINES || edit.cut ? <p className="px-3 pt-1 font-sans text-ink-muted">The rest is in Changes.</p> : null}
      {edit.lines.length === 0 ? <p className="px-3 font-sans text-ink-muted">{outputOf(step) || 'Nothing to show.'}</p> : null}
    </ScrollBox>
  );
}

export function GenericBody({ step }: { step: Step }) {
  return (
    <div className="flex flex-col gap-1.5">
      {step.action === null ? null : <Output text={JSON.stringify(step.action, null, 2)} label="Call" />}
      <Output text={outputOf(step)} label="Answer" tone={stepState(step) === 'failed' ? 'bad' : 'plain'} />
    </div>
  );
}
