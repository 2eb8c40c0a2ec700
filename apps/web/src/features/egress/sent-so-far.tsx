'use client';
import { useTranslations } from 'next-intl';
import { bytes, number } from '../../browser/format.ts';
import { useSent } from './use-egress-requests.ts';

/** What the conversation has sent already, for whoever decides about one more host. */
export function SentSoFar() {
  const t = useTranslations();
  const sent = useSent();
  if (sent === undefined) return null;
  return (
    <p className="border-t border-line px-3 py-1.5 text-xs text-ink-muted tabular-nums">
      {t('egress.sentSoFar', { sent: bytes(sent.bytesOut), hosts: sent.hosts, count: number(sent.hosts) })}
      {sent.workspaceBytes === 0 ? null : ` ${t('egress.workspaceSoFar', { workspace: bytes(sent.workspaceBytes) })}`}
    </p>
  );
}
