'use client';
import { Button, Notice } from '@slipway/ui';
import type { ReactNode } from 'react';
import type { OpenFile } from './file-store.ts';
import type { FilesSession } from './files-session.ts';

interface SidesProps {
  session: FilesSession;
  file: OpenFile;
  /** Both sides are shown against each other. */
  compares: boolean;
  compare: (on: boolean) => void;
}

/** Where the person's text and the sandbox's are not the same, and what can be done; neither goes before it is chosen. */
export function Sides({ session, file, compares, compare }: SidesProps) {
  const { draft, state } = file;
  const { files } = session;
  const choose = (which: Parameters<typeof files.choose>[0]): void => {
    compare(false);
    files.choose(which);
  };
  const theirs = draft?.theirs ?? null;
  return (
    <div aria-live="polite" className="flex shrink-0 flex-col gap-px empty:hidden">
      {file.masked ? (
        <Band>A secret of this conversation is hidden in this text, so it cannot be edited here: what is hidden would be lost. Use the terminal.</Band>
      ) : null}
      {theirs === null ? null : (
        <Band
          tone="warn"
          title={
            theirs.version === null
              ? state?.kind === 'gone'
                ? 'This file was deleted in the sandbox'
                : 'There is something else here in the sandbox now'
              : 'This file changed in the sandbox while you were editing it'
          }
          action={
            <>
              {theirs.version === null || file.masked ? null : (
                <Button size="small" aria-pressed={compares} onClick={() => compare(!compares)}>
                  {compares ? 'Hide the differences' : 'Compare'}
                </Button>
              )}
              <Button size="small" onClick={() => choose('keep-mine')}>
                {compares ? 'Save what is below' : 'Keep mine'}
              </Button>
              <Button size="small" onClick={() => choose('take-theirs')}>
                {theirs.version === null ? 'Drop mine' : 'Take theirs'}
              </Button>
            </>
          }
        >
          {theirs.version === null
            ? 'Your text is kept here; Keep mine writes it as a new file.'
            : 'Both are kept until you choose: yours here, theirs in the sandbox.'}
        </Band>
      )}
      {theirs === null && draft?.replaced != null ? (
        <Band
          title="Changed in the sandbox after you saved"
          action={
            <>
              <Button size="small" aria-pressed={compares} onClick={() => compare(!compares)}>
                {compares ? 'Hide the differences' : 'Compare with yours'}
              </Button>
              {draft.draft === null ? (
                <Button size="small" onClick={() => choose('bring-back')}>
                  Bring mine back
                </Button>
              ) : null}
              <Button size="small" onClick={() => choose('let-it-be')}>
                Let it be
              </Button>
            </>
          }
        />
      ) : null}
      {file.problem === null || state === null ? null : <Band tone="bad">{file.problem}</Band>}
      {file.kept ? null : <Band tone="warn">This browser does not keep what is not saved: its storage is full. Save before you leave the page.</Band>}
    </div>
  );
}

function Band({ tone, title, action, children }: { tone?: 'warn' | 'bad'; title?: string; action?: ReactNode; children?: ReactNode }) {
  return (
    <Notice
      className="rounded-none px-3"
      {...(tone === undefined ? {} : { tone })}
      {...(title === undefined ? {} : { title })}
      action={action === undefined ? undefined : <div className="flex flex-wrap gap-2">{action}</div>}
    >
      {children}
    </Notice>
  );
}
