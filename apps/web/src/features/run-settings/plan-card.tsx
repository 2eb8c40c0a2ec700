'use client';
import { Button } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { ListChecks } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useRef } from 'react';
import { api, newId } from '../../api/client.ts';
import { useConversation, useView } from '../conversation/conversation-context.ts';
import { useSession } from '../session/me.ts';
import { showFailure } from './use-run-settings.ts';
import { hasWrittenPlan } from './written-plan.ts';

const RESTS: ReadonlySet<string> = new Set(['finished', 'stopped', 'paused']);

/** An agent that has planned and rests: its plan can be carried out, or talked about further. */
export function PlanCard() {
  const plans = useView((view) => view.runSettings.agentType === 'plan' && RESTS.has(view.status));
  return plans ? <Planned /> : null;
}

function Planned() {
  const t = useTranslations();
  const { conversation, orgId } = useConversation();
  const { org } = useSession();
  const written = useView((view) => hasWrittenPlan(view.timeline));
  /** One request however often it is pressed. */
  const key = useRef(newId());
  const carryOut = useMutation({
    mutationFn: () =>
      api.carryOutPlan({ org: orgId, conversation: conversation.id, body: {}, idempotencyKey: key.current }),
    onError: showFailure,
  });
  return (
    <section aria-label={t('terms.plan')} className="shrink-0 border-t border-line bg-surface px-4 pt-3 pb-1 md:px-6">
      <div className="mx-auto flex max-w-3xl flex-wrap items-center justify-between gap-x-4 gap-y-2 rounded-lg border border-line-strong bg-raised p-3">
        <div className="min-w-0 flex-1 basis-72">
          <h2 className="flex items-center gap-2 text-sm font-semibold">
            <ListChecks aria-hidden className="size-4 text-accent" /> {t('terms.thePlanIsReady')}
          </h2>
          <p className="mt-0.5 text-sm text-ink-muted">
            {written ? t('terms.thePlanIsInPlan') : t('terms.sendAMessageToRefine')}
          </p>
        </div>
        {org.permissions.includes('conversation:write') ? (
          <Button tone="primary" busy={carryOut.isPending || carryOut.isSuccess} onClick={() => carryOut.mutate()}>
            {t('terms.carryOutPlan')}
          </Button>
        ) : null}
      </div>
    </section>
  );
}
