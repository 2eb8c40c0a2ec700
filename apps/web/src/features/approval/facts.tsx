'use client';
import { cn } from '@slipway/ui';
import { CircleHelp, FolderOpen, type LucideIcon, ShieldAlert, ShieldCheck, TriangleAlert, Wrench } from 'lucide-react';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import type { MessageKey } from '../../messages/translate.ts';
import { useConversation } from '../conversation/conversation-context.ts';
import { workspacePaths } from '../conversation/workspace-path.ts';
import type { Pending } from './pending.ts';

const RISK: Record<Pending['risk'], { icon: LucideIcon; label: MessageKey; className: string }> = {
  HIGH: { icon: ShieldAlert, label: 'approval.highRisk', className: 'text-bad' },
  MEDIUM: { icon: TriangleAlert, label: 'approval.mediumRisk', className: 'text-warn' },
  LOW: { icon: ShieldCheck, label: 'approval.lowRisk', className: 'text-ok' },
  UNKNOWN: { icon: CircleHelp, label: 'approval.riskUnknown', className: 'text-ink-muted' },
};

/** What speaks for or against an action, below what it would do: risk, tool, where it runs, and why it is asked for. */
export function Facts({ pending }: { pending: Pending }) {
  const t = useTranslations();
  const { conversation } = useConversation();
  const { summary, risk, tool, directory, policy, reasons } = pending;
  const { icon, label, className } = RISK[risk];
  return (
    <div className="flex flex-col gap-1 text-xs text-ink-muted">
      <ul className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <Fact icon={icon} className={cn('font-medium', className)}>
          {t(label)}
        </Fact>
        {summary === null ? null : <Fact icon={Wrench}>{tool}</Fact>}
        {directory === null ? null : (
          <Fact icon={FolderOpen}>
            {t('approval.runsIn', { directory: workspacePaths(conversation.repository).path(directory) })}
          </Fact>
        )}
      </ul>
      {policy === null && reasons.length === 0 ? null : (
        <ul className="flex flex-col gap-0.5">
          {policy === null ? null : <li>{t(policy)}</li>}
          {reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Fact({ icon: Icon, className, children }: { icon: LucideIcon; className?: string; children: ReactNode }) {
  return (
    <li className={cn('flex min-w-0 items-center gap-1 [overflow-wrap:anywhere]', className)}>
      <Icon aria-hidden className="size-3.5 shrink-0" /> {children}
    </li>
  );
}
