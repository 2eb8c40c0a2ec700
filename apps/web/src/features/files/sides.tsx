'use client';
import { Button, Notice } from '@slipway/ui';
import { useTranslations } from 'next-intl';
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

/** Where the user's text and the sandbox's are not the same, and what can be done; neither goes before it is chosen. */
export function Sides({ session, file, compares, compare }: SidesProps) {
  const t = useTranslations();
  const { draft, state } = file;
  const { files } = session;
  const choose = (which: Parameters<typeof files.choose>[0]): void => {
    compare(false);
    files.choose(which);
  };
  const theirs = draft?.theirs ?? null;
  return (
    <div aria-live="polite" className="flex shrink-0 flex-col gap-px empty:hidden">
      {file.masked ? <Band>{t('files.aSecretIsMaskedIn')}</Band> : null}
      {theirs === null ? null : (
        <Band
          tone="warn"
          title={
            theirs.version === null
              ? state?.kind === 'gone'
                ? t('files.thisFileWasDeletedIn')
                : t('files.theSandboxNowHasSomething')
              : t('files.thisFileChangedInThe')
          }
          action={
            <>
              {theirs.version === null || file.masked ? null : (
                <Button size="small" aria-pressed={compares} onClick={() => compare(!compares)}>
                  {compares ? t('files.hideDifferences') : t('files.compare')}
                </Button>
              )}
              <Button size="small" onClick={() => choose('keep-mine')}>
                {compares ? t('files.saveMergedVersion') : t('files.keepMine')}
              </Button>
              <Button size="small" onClick={() => choose('take-theirs')}>
                {theirs.version === null ? t('files.discardMine') : t('files.useTheirs')}
              </Button>
            </>
          }
        >
          {theirs.version === null ? t('files.yourVersionIsKeptHere') : t('files.bothVersionsAreKeptUntil')}
        </Band>
      )}
      {theirs === null && draft?.replaced != null ? (
        <Band
          title={t('files.changedInTheSandboxAfter')}
          action={
            <>
              <Button size="small" aria-pressed={compares} onClick={() => compare(!compares)}>
                {compares ? t('files.hideDifferences') : t('files.compareWithYours')}
              </Button>
              {draft.draft === null ? (
                <Button size="small" onClick={() => choose('bring-back')}>
                  {t('files.restoreMine')}
                </Button>
              ) : null}
              <Button size="small" onClick={() => choose('let-it-be')}>
                {t('files.keepTheirs')}
              </Button>
            </>
          }
        />
      ) : null}
      {file.problem === null || state === null ? null : <Band tone="bad">{file.problem}</Band>}
      {file.kept ? null : <Band tone="warn">{t('files.browserStorageIsFullSo')}</Band>}
    </div>
  );
}

function Band({
  tone,
  title,
  action,
  children,
}: {
  tone?: 'warn' | 'bad';
  title?: string;
  action?: ReactNode;
  children?: ReactNode;
}) {
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
