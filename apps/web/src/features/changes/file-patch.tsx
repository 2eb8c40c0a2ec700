'use client';
import type { FileDiffOptions } from '@pierre/diffs/react';
import { PatchDiff } from '@pierre/diffs/react';
import type { FileChange } from '@slipway/contracts/repositories';
import { AfterDelay, Button, Skeleton } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { useTheme } from 'next-themes';
import { Component, type ReactNode, useMemo, useState } from 'react';
import type { Translate } from '../../messages/translate.ts';
import { Failed } from '../frame/failed.tsx';
import { LINE_DIFF, LOOK, reachByKeyboard, SKIN, THEMES } from './diff-look.ts';
import { DiffWorkers } from './diff-workers.tsx';
import type { Selection } from './selection.ts';
import { useFilePatch } from './use-changes.ts';

/** A patch over this is shown when asked for: colouring it takes a while. UTF-16 code units. */
const LARGE = 200_000;

/** The diff of one file, coloured for the theme of the page. */
export function FilePatch({ file, selection, live }: { file: FileChange; selection: Selection; live: boolean }) {
  const t = useTranslations();
  const patch = useFilePatch(file.path, selection);
  const { resolvedTheme } = useTheme();
  const [shown, setShown] = useState(false);
  const options = useMemo<FileDiffOptions<undefined, undefined>>(
    () => ({
      theme: THEMES,
      themeType: resolvedTheme === 'dark' ? 'dark' : 'light',
      diffStyle: 'unified',
      overflow: 'scroll',
      disableFileHeader: true,
      hunkSeparators: 'line-info-basic',
      lineDiffType: LINE_DIFF,
      diffIndicators: 'classic',
      unsafeCSS: SKIN,
      onPostRender: reachByKeyboard,
    }),
    [resolvedTheme],
  );
  if (patch.data === null)
    return <p className="px-4 pt-1 pb-3 text-sm text-ink-muted">{t('changes.thisDiffIsTooLarge')}</p>;
  if (patch.data === undefined && patch.error)
    return <Failed error={patch.error} retry={() => patch.refetch()} className="m-3" />;
  if (patch.data === undefined)
    return (
      <AfterDelay>
        <Skeleton className="m-3 h-24" />
      </AfterDelay>
    );
  const empty = emptyReason(t, patch.data, file, live);
  if (empty !== null) return <p className="px-4 pt-1 pb-3 text-sm text-ink-muted">{empty}</p>;
  if (patch.data.length > LARGE && !shown)
    return (
      <div className="px-4 pb-3">
        <Button size="small" onClick={() => setShown(true)}>
          {t('changes.showLargeDiff')}
        </Button>
      </div>
    );
  return (
    <PlainOnFailure key={patch.data} patch={patch.data}>
      <DiffWorkers>
        <PatchDiff patch={patch.data} options={options} className="block" style={LOOK} />
      </DiffWorkers>
    </PlainOnFailure>
  );
}

/** Why there are no lines to show; `null` when there are. */
function emptyReason(t: Translate, patch: string, file: FileChange, live: boolean): string | null {
  if (/^@@/m.test(patch)) return null;
  const changed = file.additions + file.deletions > 0;
  if (patch.trim() === '' && changed)
    return live ? t('changes.thisFileNoLongerDiffers') : t('changes.theDiffOfThisFile');
  if (changed) return null;
  return file.status === 'ADDED'
    ? t('changes.newEmptyFile')
    : file.status === 'DELETED'
      ? t('changes.theFileWasEmpty')
      : t('changes.noLinesChangedTheFile');
}

/** A patch that the viewer cannot read is still a text. */
class PlainOnFailure extends Component<{ patch: string; children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };
  static getDerivedStateFromError() {
    return { failed: true };
  }
  override render() {
    return this.state.failed ? (
      <pre className="overflow-auto px-4 pb-3 font-mono text-xs">{this.props.patch}</pre>
    ) : (
      this.props.children
    );
  }
}
