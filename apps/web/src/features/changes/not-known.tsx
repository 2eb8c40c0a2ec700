'use client';
import { EmptyState } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { failureOf } from '../../api/failure.ts';
import { Failed } from '../frame/failed.tsx';

/** Nothing of this is known before the sandbox is back. */
export function NotKept() {
  const t = useTranslations();
  return <EmptyState title={t('changes.onlyTheChangesSinceThe')}>{t('changes.theSandboxIsNotRunningSend')}</EmptyState>;
}

/**
 * Why there is nothing to show. What only a sandbox knows that is away, or newer than what is asked for, is no failure.
 */
export function NotKnown({ error, retry }: { error: Error; retry: () => void }) {
  const t = useTranslations();
  const { code, title, detail, nextStep } = failureOf(error);
  if (code === 'conversation.no-workspace')
    return <EmptyState title={t('changes.noWorkspaceYet')}>{t('changes.theAgentsChangesAppearHere')}</EmptyState>;
  if (code?.startsWith('changes.') || code === 'repository.not-found')
    return <EmptyState title={title}>{[detail, nextStep].filter(Boolean).join(' ')}</EmptyState>;
  return <Failed error={error} retry={retry} className="m-4" />;
}
