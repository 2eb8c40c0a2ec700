'use client';
import type { FileDiffOptions } from '@pierre/diffs/react';
import { PatchDiff } from '@pierre/diffs/react';
import { AfterDelay, Button, Skeleton } from '@slipway/ui';
import { useTheme } from 'next-themes';
import { Component, type CSSProperties, type ReactNode, useMemo, useState } from 'react';
import { Failed } from '../frame/failed.tsx';
import { useFilePatch } from './use-changes.ts';

/** A patch over this is shown when asked for: colouring it takes a while. UTF-16 code units. */
const LARGE = 200_000;

/** The viewer scrolls sideways inside its shadow root; a person without a pointer must get there. */
function reachByKeyboard(node: HTMLElement): void {
  for (const code of node.shadowRoot?.querySelectorAll<HTMLElement>('[data-code]') ?? []) code.tabIndex = 0;
}

/** Line numbers keep 4.5:1 on the tinted lines; the surface is the page's own. */
const LOOK = {
  '--diffs-fg-number-override': 'var(--ink-muted)',
  '--diffs-fg-number-addition-override': 'var(--ok)',
  '--diffs-fg-number-deletion-override': 'var(--bad)',
  '--diffs-font-size': '12px',
  '--diffs-line-height': '18px',
  '--diffs-font-family': 'var(--font-mono)',
  '--diffs-header-font-family': 'var(--font-sans)',
} as CSSProperties;

/** The diff of one file, coloured for the theme of the page. */
export function FilePatch({ path }: { path: string }) {
  const patch = useFilePatch(path, true);
  const { resolvedTheme } = useTheme();
  const [shown, setShown] = useState(false);
  const options = useMemo<FileDiffOptions<undefined, undefined>>(
    () => ({
      theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
      themeType: resolvedTheme === 'dark' ? 'dark' : 'light',
      diffStyle: 'unified',
      overflow: 'scroll',
      disableFileHeader: true,
      hunkSeparators: 'line-info-basic',
      lineDiffType: 'word-alt',
      diffIndicators: 'classic',
      onPostRender: reachByKeyboard,
    }),
    [resolvedTheme],
  );
  if (patch.data === undefined && patch.error) return <Failed error={patch.error} retry={() => patch.refetch()} className="m-3" />;
  if (patch.data === undefined)
    return (
      <AfterDelay>
        <Skeleton className="m-3 h-24" />
      </AfterDelay>
    );
  if (patch.data.trim() === '') return <p className="px-4 pb-3 text-sm text-ink-muted">This file no longer differs.</p>;
  if (patch.data.length > LARGE && !shown)
    return (
      <div className="px-4 pb-3">
        <Button size="small" onClick={() => setShown(true)}>
          Show a large diff
        </Button>
      </div>
    );
  return (
    <PlainOnFailure key={patch.data} patch={patch.data}>
      <PatchDiff patch={patch.data} options={options} className="block" style={LOOK} disableWorkerPool />
    </PlainOnFailure>
  );
}

/** A patch that the viewer cannot read is still a text. */
class PlainOnFailure extends Component<{ patch: string; children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };
  static getDerivedStateFromError() {
    return { failed: true };
  }
  override render() {
    return this.state.failed ? <pre className="overflow-auto px-4 pb-3 font-mono text-xs">{this.props.patch}</pre> : this.props.children;
  }
}
