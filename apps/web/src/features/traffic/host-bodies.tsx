'use client';
import type { EgressBodies } from '@slipway/contracts/sandboxes';
import { useTranslations } from 'next-intl';
import { bytes } from '../../browser/format.ts';
import { foldersText, requestsText } from './body-words.ts';

/** What requests to an opened host carried: how much, of which type, and how much of it is the workspace. */
export function HostBodies({ bodies }: { bodies: EgressBodies }) {
  const t = useTranslations();
  const { workspaceBytes, unreadBytes } = bodies;
  return (
    <>
      <p className="text-xs text-ink-muted tabular-nums [overflow-wrap:anywhere]">{requestsText(t, bodies)}</p>
      {workspaceBytes === 0 ? null : (
        <p className="text-xs tabular-nums [overflow-wrap:anywhere]">
          <strong className="font-medium">{t('traffic.ofTheWorkspace', { bytes: bytes(workspaceBytes) })}</strong>{' '}
          <bdi>{foldersText(t, bodies)}</bdi>
        </p>
      )}
      {unreadBytes === 0 ? null : (
        <p className="text-xs text-ink-muted tabular-nums">{t('traffic.notCompared', { bytes: bytes(unreadBytes) })}</p>
      )}
    </>
  );
}
