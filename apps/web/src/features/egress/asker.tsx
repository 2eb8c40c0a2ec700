'use client';
import type { EgressAskedBy } from '@slipway/contracts/sandboxes';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import type { MessageKey } from '../../messages/translate.ts';
import { visibleText } from '../conversation/visible-text.ts';
import { workspacePaths } from '../conversation/workspace-path.ts';

const WORDS: Record<Exclude<EgressAskedBy['kind'], 'action'>, MessageKey> = {
  terminal: 'egress.fromATerminal',
  editor: 'egress.fromTheEditor',
  script: 'egress.fromAScript',
  browser: 'egress.fromTheBrowser',
  'tool-server': 'egress.fromAToolServer',
};

/**
 * What asked, as the sandbox says: the command in plain text, or where it came from. Nothing relies on it.
 * @param place leads to the command in the timeline.
 */
export function Asker({
  askedBy,
  repository,
  place,
}: {
  askedBy: EgressAskedBy | null;
  repository: string | null;
  place?: ReactNode;
}) {
  const t = useTranslations();
  if (askedBy === null) return null;
  if (askedBy.kind !== 'action') return <p className="text-xs text-ink-muted">{t(WORDS[askedBy.kind])}</p>;
  const command = visibleText(workspacePaths(repository).command(askedBy.line));
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <p className="text-xs text-ink-muted">{t('egress.askedBy')}</p>
      <div className="flex min-w-0 items-center gap-1 rounded-md border border-line bg-term pl-2.5">
        <code dir="ltr" className="min-w-0 flex-1 truncate py-1.5 font-mono text-xs" title={command}>
          {command}
        </code>
        {place}
      </div>
    </div>
  );
}
